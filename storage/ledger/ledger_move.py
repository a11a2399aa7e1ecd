"""Moves the ledger of a library to another database, in steps that can be repeated.

Until the end, the old ledger stays in use, and the new one refuses the changes of others, even of
processes that have it open. At the end, the old ledger refuses changes before the new one accepts
them, so people can change at most one of them.
"""

from collections.abc import Mapping
from pathlib import Path

from sqlalchemy import Connection
from sqlalchemy.engine import make_url

from domain.errors import ConflictError, StorageError
from domain.messages import _
from storage.ledger import postgresql
from storage.ledger.compatibility import require_known
from storage.ledger.database import HEAD, create_file, ledger_location
from storage.ledger.engines import engine_of
from storage.ledger.ledger_check import CONTENTS, is_blank, revision_of, url_of
from storage.ledger.ledger_copy import (
    LedgerPlace,
    OnProgress,
    Snapshot,
    TableCopy,
    copied_tables,
    copy_rows,
)
from storage.ledger.ledger_location import FILE, LedgerLocation
from storage.ledger.ledger_tables import Base
from storage.ledger.move_mark import (
    Mark,
    MoveState,
    accept_writes,
    read_mark,
    refuse_writes,
    release,
    set_mark,
)

TARGET = "--to-database"
"""The option of `cli.py migrate` that names the new place."""


class LedgerMove:
    """A move of a ledger to another database.

    Every method raises StorageError if a database fails, and can then be called again.
    """

    def __init__(
        self, data_dir: Path, library: str, old_url: str | None, new_url: str | None
    ) -> None:
        """Connect to nothing yet; `library` identifies the library of the data folder.

        Raises:
            ConfigError: A URL names neither an SQLite file nor a PostgreSQL database, or the driver
                is not installed.
            ConflictError: Both URLs name the same file.
        """
        self._library = library
        self._old = _place(data_dir, old_url)
        self._new = _place(data_dir, new_url, TARGET)
        if _is_same(self._old.location, self._new.location):
            raise self._already_there()

    def close(self) -> None:
        """Close the connections."""
        for place in (self._old, self._new):
            place.engine.dispose()

    def is_complete(self) -> bool:
        """Whether the ledger was moved to the new place, which may be opened from now on.

        Raises:
            StorageError: It was moved to another place.
        """
        with self._old.reading() as old:
            mark = read_mark(old.connection)
        if mark is None or mark.state != MoveState.MOVED:
            return False
        if mark != self._mark(MoveState.MOVED, self._new.location):
            raise self._old.location.moved(mark.place)
        with self._new.writing() as connection:
            if read_mark(connection) == self._mark(MoveState.UNFINISHED, self._old.location):
                release(connection)  # the process was killed just before this
        return True

    def prepare(self) -> None:
        """Create the tables in the new place and mark them, unless an earlier call has done so.

        Raises:
            ConflictError: The database is the one in use, or contains a ledger that was not moved
                from there to the one in use.
        """
        if self._new.location.is_on_server:
            with self._new.writing() as connection:  # before any other error
                postgresql.require_server(connection, self._new.location)
        self._require_another()
        with self._old.reading() as old:
            self._require_this_version(old.connection)
        if (file := self._new.location.file) is not None:
            create_file(self._new.location, file)
        with self._new.writing() as connection:
            self._require_free(connection)
            accept_writes(connection)
            _upgrade(connection, self._new.location)
            self._mark_unfinished(connection)
            refuse_writes(connection, self._old.location.url)

    def copy(self, on_progress: OnProgress) -> None:
        """Copy what the new ledger lacks, as it is at one moment; the old one may be changed."""
        with self._old.reading() as old:
            copy_rows(old, self._new, copied_tables(), on_progress)

    def finish(self, on_progress: OnProgress) -> dict[str, int]:
        """Copy the rest while nobody changes the old ledger, compare both, and move to the new one.

        Returns:
            The number of rows of each table.

        Raises:
            BusyError: Another process has been writing to the old ledger for half a minute.
        """
        tables = copied_tables()
        with self._old.writing() as connection:
            self._require_this_version(connection)
            old = Snapshot(connection, self._old.location)
            copies = copy_rows(old, self._new, tables, on_progress)
            changed = [table for table in tables if copies[table.name].changes]
            self._require_unchanged(copy_rows(old, self._new, changed, on_progress))
            self._prepare_use()
            set_mark(connection, self._mark(MoveState.MOVED, self._new.location))
            refuse_writes(connection, self._new.location.url)
        with self._new.writing() as connection:
            release(connection)
        return {table: one.rows for table, one in copies.items()}

    def _require_another(self) -> None:
        if self._old.location.is_on_server and self._new.location.is_on_server:
            with self._old.reading() as old, self._new.reading() as new:
                databases = {postgresql.identity(one.connection) for one in (old, new)}
            if len(databases) == 1:
                raise self._already_there()

    def _require_this_version(self, old: Connection) -> None:
        """A newer version may have added tables and columns, which this one would not copy."""
        require_known(revision_of(old), self._old.location)

    def _already_there(self) -> ConflictError:
        return ConflictError(
            _("The ledger is already in {place}.").format(place=self._new.location.name)
        )

    def _require_unchanged(self, copies: Mapping[str, TableCopy]) -> None:
        for table, copy in copies.items():
            if copy.changes:
                raise StorageError(
                    _(
                        "The table {table} in {place} differs from the original after copying it"
                        " ({changes} of {rows} rows). Make sure that no other program writes to"
                        " that database, then run the same command again."
                    ).format(
                        table=table,
                        place=self._new.location.name,
                        changes=copy.changes,
                        rows=copy.rows,
                    )
                )

    def _prepare_use(self) -> None:
        with self._new.writing() as connection:  # synced, with all batches before it
            if self._new.location.is_on_server:
                postgresql.prepare_use(connection, copied_tables())
            self._mark_unfinished(connection)

    def _mark_unfinished(self, connection: Connection) -> None:
        set_mark(connection, self._mark(MoveState.UNFINISHED, self._old.location))

    def _mark(self, state: MoveState, other: LedgerLocation) -> Mark:
        return Mark(self._library, state, other.url)

    def _require_free(self, connection: Connection) -> None:
        mark, place = read_mark(connection), self._new.location.name
        if mark is None and not is_blank(connection, Base.metadata.tables):
            raise ConflictError(
                _(
                    "{place} already contains a ledger, which was not changed: name an empty"
                    " database with --to-database."
                ).format(place=place)
            )
        if mark is not None and mark.library != self._library:
            raise ConflictError(
                _(
                    "{place} contains the ledger of another library, whose move is not finished or"
                    " which was moved away. It was not changed: name another database with"
                    " --to-database."
                ).format(place=place)
            )
        if mark is not None and mark.state == MoveState.MOVED:
            self._require_way_back(mark.place)
        if not is_blank(connection, CONTENTS):
            self._require_contents()

    def _require_way_back(self, target: str) -> None:
        location = self._old.location
        if target != location.url:
            raise ConflictError(
                _(
                    "{place} contains the ledger that was moved to {target}, not to {ledger}. It"
                    " was not changed: correct FOOTNOTE_DATABASE_URL, or name another database with"
                    " --to-database."
                ).format(
                    place=self._new.location.name,
                    target=LedgerLocation(location.data_dir, target, None).name,
                    ledger=location.name,
                )
            )

    def _require_contents(self) -> None:
        with self._old.reading() as old:
            if is_blank(old.connection, CONTENTS):
                raise ConflictError(
                    _(
                        "{ledger} contains no source, document, or index, but {place} contains"
                        " some. Neither was changed: correct FOOTNOTE_DATABASE_URL, or name another"
                        " database with --to-database."
                    ).format(ledger=self._old.location.name, place=self._new.location.name)
                )


def _place(data_dir: Path, url: str | None, option: str = "") -> LedgerPlace:
    location = ledger_location(data_dir, url, option)
    address = make_url(url or url_of(data_dir / FILE))
    if location.is_on_server:
        address = postgresql.without_idle_limit(address)
    return LedgerPlace(location, engine_of(address))


def _is_same(one: LedgerLocation, other: LedgerLocation) -> bool:
    files = [place.file.resolve() for place in (one, other) if place.file is not None]
    if len(files) > 1:
        return files[0] == files[1]
    return one.url == other.url and not one.is_on_server


def _upgrade(connection: Connection, location: LedgerLocation) -> None:
    revision = revision_of(connection)
    if revision == HEAD:
        return
    require_known(revision, location)
    from storage.ledger.migrations.run import upgrade  # loads Alembic

    upgrade(connection)
