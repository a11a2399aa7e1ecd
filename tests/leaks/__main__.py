"""Many random cases: python -m tests.leaks --cases 10000 --seed 1."""

import argparse
import io
import logging
import sys
import tempfile
import time
from pathlib import Path

import bootstrap
from settings import load_settings
from tests.leaks.cases import leaks
from tests.leaks.world import World


def main() -> int:
    """Print the leaks; 1 if there are any."""
    parser = argparse.ArgumentParser(prog="python -m tests.leaks", description=__doc__)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    began, log = time.monotonic(), io.StringIO()
    logging.getLogger().addHandler(logging.StreamHandler(log))
    logging.getLogger().setLevel(logging.INFO)
    with tempfile.TemporaryDirectory() as folder:
        settings = load_settings(
            data_dir=Path(folder) / "data",
            allowed_hosts="testserver",
            api_requests_per_minute=10**6,
        )
        world = World(bootstrap.build_services(settings), Path(folder), options.seed)
        found = leaks(world, options.cases)
    for one in found:
        names = [document.handle for document in one.documents]
        print(f"case {one.case}: {one.face} showed {names} to {one.principal}")  # noqa: T201
    logged = [one.handle for one in world.documents if one.secret in log.getvalue()]
    print(f"the log, {len(log.getvalue()):,} characters, tells of {logged}")  # noqa: T201
    seconds = time.monotonic() - began
    print(f"{options.cases:,} cases, {len(found)} leaks, {seconds:.0f} s")  # noqa: T201
    return 1 if found or logged else 0


if __name__ == "__main__":
    sys.exit(main())
