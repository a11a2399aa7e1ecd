"""Ledgers for tests: SQLite files in their data folders, or databases of a PostgreSQL server."""

from collections.abc import Collection
from itertools import count
from pathlib import Path

from storage.ledger.database import Database, open_database
from tests.postgresql.server import Server

_TEMPLATE = "footnote_template"


class Ledgers:
    """The databases that belong to data folders; without a server, all ledgers are files."""

    def __init__(self) -> None:
        self.server: Server | None = None
        self._names: dict[Path, str] = {}
        self._numbers = count(1)

    def url(self, data_dir: Path) -> str | None:
        """FOOTNOTE_DATABASE_URL of this folder; its database is created if necessary."""
        if self.server is None:
            return None
        if data_dir not in self._names:
            name = f"ledger_{next(self._numbers)}"
            self.server.execute(f"CREATE DATABASE {name} TEMPLATE {_TEMPLATE}")
            self._names[data_dir] = name
        return self.server.url(self._names[data_dir])

    def use(self, server: Server, folder: Path) -> None:
        """Use databases of this server from now on; `folder` is a data folder for the template."""
        if not server.execute(f"SELECT 1 FROM pg_database WHERE datname = '{_TEMPLATE}'"):
            server.execute(f"CREATE DATABASE {_TEMPLATE}")
            open_database(folder, server.url(_TEMPLATE)).close()
        self.server = server

    def leave(self) -> None:
        """Delete the databases, and use files from now on."""
        self.keep(())
        self.server = None

    def known(self) -> set[Path]:
        """The data folders with databases."""
        return set(self._names)

    def keep(self, folders: Collection[Path]) -> None:
        """Delete the databases of all other data folders."""
        for folder in self.known().difference(folders):
            name = self._names.pop(folder)
            assert self.server is not None
            self.server.execute(f"DROP DATABASE {name} WITH (FORCE)")


LEDGERS = Ledgers()


def open_ledger(data_dir: Path) -> Database:
    """Open the ledger of this folder, on PostgreSQL if the test is about it."""
    return open_database(data_dir, LEDGERS.url(data_dir))
