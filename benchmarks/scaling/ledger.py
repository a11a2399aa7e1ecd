"""The size of the ledger per passage, in a file of SQLite and in PostgreSQL.

python -m benchmarks.scaling.ledger --passages 50000
"""

import argparse
import tempfile
from pathlib import Path

from benchmarks.measure import machine
from benchmarks.memory import WORDS, MadeUpDocuments, import_made_up
from tests.postgresql.server import Server, server

_DATABASE = "ledger"


def main() -> None:
    """Import the same documents into both, and print the bytes per passage."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scaling.ledger")
    parser.add_argument("--passages", type=int, default=50_000)
    passages = parser.parse_args().passages
    print(f"{passages:,} passages of {WORDS} words, on {machine()}")
    print(f"SQLite: {in_file(passages) / passages:,.0f} bytes per passage")
    with server() as postgresql:
        print(f"PostgreSQL: {on_server(postgresql, passages) / passages:,.0f} bytes per passage")


def in_file(passages: int) -> int:
    """Bytes of the ledger in a file."""
    with tempfile.TemporaryDirectory(prefix="footnote-ledger-") as folder:
        import_made_up(folder, MadeUpDocuments(passages))
        return sum(one.stat().st_size for one in Path(folder).glob("footnote.db*"))


def on_server(postgresql: Server, passages: int) -> int:
    """Bytes that the import adds to a database."""
    postgresql.execute(f"CREATE DATABASE {_DATABASE}")
    empty = _bytes(postgresql)
    with tempfile.TemporaryDirectory(prefix="footnote-ledger-") as folder:
        import_made_up(folder, MadeUpDocuments(passages), postgresql.url(_DATABASE))
    return _bytes(postgresql) - empty


def _bytes(postgresql: Server) -> int:
    [(found,)] = postgresql.execute(f"SELECT pg_database_size('{_DATABASE}')")
    return int(str(found))


if __name__ == "__main__":
    main()
