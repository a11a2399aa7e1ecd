"""`python -m tests.opensearch`: starts OpenSearch for trying the classes of docs/opensearch.md."""

import argparse
import signal
import sys
import time
from pathlib import Path

from tests.opensearch.artifacts import VERSION
from tests.opensearch.cluster import Cluster, cluster
from tests.opensearch.home import HEAP_MB
from tests.opensearch.layout import CACHE, fetched
from tests.opensearch.programs import OpenSearchError
from tests.opensearch.security import ADMIN, READER, Security


def main() -> int:
    options = _parser().parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        if options.fetch:
            _write(f"OpenSearch {VERSION} is in {fetched()}")
        else:
            _run(options)
    except OpenSearchError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except KeyboardInterrupt:
        _write("OpenSearch has ended")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.opensearch", description=__doc__)
    parser.add_argument("--nodes", type=_count, default=1, help="how many nodes (default: 1)")
    parser.add_argument("--security", action="store_true", help="HTTPS and passwords")
    parser.add_argument("--port", type=int, default=9200, help="of the first node (default: 9200)")
    parser.add_argument("--heap-mb", type=_count, default=HEAP_MB, help=f"default: {HEAP_MB}")
    parser.add_argument("--temporary", action="store_true", help="remove the data at the end")
    parser.add_argument("--fetch", action="store_true", help="only fetch OpenSearch")
    return parser


def _count(text: str) -> int:
    if (number := int(text)) < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def _run(options: argparse.Namespace) -> None:
    folder = None if options.temporary else _data_folder(options)
    nodes, security, port = options.nodes, options.security, options.port
    _write(f"Starting OpenSearch {VERSION} (the first time, Maven fetches about 100 MB)")
    with cluster(
        nodes, security=security, folder=folder, port=port, heap_mb=options.heap_mb
    ) as running:
        _describe(running, temporary=options.temporary)
        _wait_for_the_end(running)


def _data_folder(options: argparse.Namespace) -> Path:
    """One for each kind of cluster: nodes of one kind cannot read the data of another."""
    security = "-security" if options.security else ""
    return CACHE / "data" / f"{options.nodes}{security}"


def _describe(running: Cluster, *, temporary: bool) -> None:
    end = "removed at the end" if temporary else "the next start uses them"
    _write(f"OpenSearch {VERSION} answers on {', '.join(running.urls)}")
    _write(f"  for the example in docs/opensearch.md: OPENSEARCH_URL={running.url}")
    if running.security is not None:
        _describe_security(running.security)
    _write(f"  data and logs: {running.nodes[0].home.parent} ({end})")
    _write("Press Ctrl-C to stop")


def _describe_security(security: Security) -> None:
    for user in (ADMIN, READER):
        _write(f"  user: {user}, password: {security.passwords[user]}")
    _write(f"  CA file: {security.ca_file}")


def _wait_for_the_end(running: Cluster) -> None:
    while len(running.running) == len(running.nodes):
        time.sleep(1)
    ended = (node for node in running.nodes if not node.running)
    raise OpenSearchError("\n".join(f"{node.name} ended:\n{node.log_tail()}" for node in ended))


def _write(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main())
