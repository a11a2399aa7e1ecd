"""The location of the ledger, and the errors to report if the ledger can't be used."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy.exc import DatabaseError, SQLAlchemyError

from domain.errors import BusyError, DamagedLedgerError, StorageError
from domain.messages import Message, _, join_messages
from storage.ledger import postgresql
from storage.ledger.move_mark import REFUSAL

E = TypeVar("E", bound=StorageError)

INDEXES = "indexes"
UPLOADS = "uploads"
KEY_FILE = "encryption.key"


@dataclass(frozen=True, slots=True)
class Remains:
    """The files of a library in a data folder; falsy if there are none."""

    indexes: tuple[Path, ...] = ()
    first_upload: Path | None = None
    key: Path | None = None

    def __bool__(self) -> bool:
        return bool(self.indexes or self.first_upload or self.key)


def describe_remains(data_dir: Path) -> list[str]:
    """Descriptions of the library files in the folder, with counts; lists all file names."""
    remains = remains_in(data_dir)
    descriptions: list[str] = []
    if remains.indexes:
        folders, passages = len(remains.indexes), sum(map(_passages, remains.indexes))
        descriptions.append(
            _("index folders: {folders} (passages: {passages})").format(
                folders=folders, passages=passages
            )
        )
    if remains.first_upload:
        files = sum(1 for _ in files_below(data_dir / UPLOADS))
        descriptions.append(_("uploaded files: {files}").format(files=files))
    if remains.key:
        descriptions.append(KEY_FILE)
    return descriptions


def remains_in(data_dir: Path) -> Remains:
    """The library files in the folder; fast, however many there are.

    An index folder without files does not count, because its ledger row is about to be written.
    """
    folders = sorted((data_dir / INDEXES).glob("*"))
    key = data_dir / KEY_FILE
    return Remains(
        tuple(folder for folder in folders if any(files_below(folder))),
        next(files_below(data_dir / UPLOADS), None),
        key if key.is_file() else None,
    )


def files_below(folder: Path) -> Iterator[Path]:
    """All files in the folder and its subfolders, unordered; none if it does not exist."""
    for root, _folders, names in os.walk(folder):
        yield from (Path(root, name) for name in names)


def _passages(index: Path) -> int:
    """The number of passages that the keyword index reports; 0 if it can't be read."""
    try:
        meta = json.loads((index / "keywords" / "index" / "meta.json").read_bytes())
        return sum(_live_documents(segment) for segment in meta["segments"])
    except (OSError, ValueError, LookupError, TypeError):
        return 0


def _live_documents(segment: Mapping[str, Any]) -> int:
    deletes = segment["deletes"] or {"num_deleted_docs": 0}
    return int(segment["max_doc"]) - int(deletes["num_deleted_docs"])


FILE = "footnote.db"
DATABASE_URL = "FOOTNOTE_DATABASE_URL"
"""The setting with the URL of the ledger in use."""

_DAMAGED = (
    "malformed",
    "not a database",
    "unsupported file format",
    "no such table",
    "no such column",
    "Could not decode to UTF-8",
)
"""Substrings of SQLite's messages about a damaged file."""

_DAMAGE = _(
    "The ledger {ledger} is damaged ({reason}). `python cli.py check` lists what is damaged."
    " {recovery}"
)
_UNREADABLE = _(
    "The ledger {ledger} contains data that can't be read ({reason}). Run `python cli.py check` to"
    " find out whether it is damaged. {recovery}"
)
_RESTORE = _(
    "To recover, stop Footnote and restore a backup into a new folder: `python cli.py restore FILE"
    " --data-dir FOLDER`. If you have only a copy of footnote.db, move footnote.db-wal and"
    " footnote.db-shm out of the folder if they exist, and restore footnote.db from that copy,"
    " together with footnote.db-wal if there is one."
)
_SALVAGE = _(
    "Without a backup, run `sqlite3 footnote.db .recover | sqlite3 recovered.db` with the sqlite3"
    " tool from sqlite.org to save what is still readable. Replace footnote.db with recovered.db,"
    " then run `python cli.py reindex` to rebuild the indexes."
)
_BEGIN_AGAIN = _(
    "To start over, move the folder away or set FOOTNOTE_DATA_DIR to another one, then import your"
    " documents again."
)
_RESTORE_AT_URL = _(
    "To recover, stop Footnote and restore the database from a backup, or correct"
    " FOOTNOTE_DATABASE_URL."
)
_OTHER_TARGET = _(": move it away, or name another database with {setting}")
_NOT_USABLE = _(
    "The database of this library can't be used: an administrator finds the details in the log."
)
_NOT_AVAILABLE = _(
    "The database of this library can't be used at the moment: try again later. An administrator"
    " finds the details in the log."
)
_BUSY = _("Another process is writing to the library: try again in a moment.")
_MOVED = _(
    "The library was moved to another place: until an administrator has restarted Footnote with it,"
    " it can be read, but not changed. The log names the place."
)
_MOVED_TO_URL = _(
    "The library was moved from {ledger} to {place}: set FOOTNOTE_DATABASE_URL to the URL that was"
    " passed to `migrate`, and restart Footnote. Until then, running processes can read the"
    " library, but not change it."
)
_MOVED_TO_FOLDER = _(
    "The library was moved from {ledger} to the data folder: remove FOOTNOTE_DATABASE_URL, and"
    " restart Footnote. Until then, running processes can read it, but not change it."
)


@dataclass(frozen=True, slots=True)
class LedgerLocation:
    """The location of a ledger.

    `url` is its URL without secrets, or empty for the ledger in the data folder.
    `file` is None if the ledger is not an SQLite file; `is_on_server` if it is on PostgreSQL.
    `option` is the option of a command that names it as the target of a move, "" for the ledger in
    use.
    """

    data_dir: Path
    url: str
    file: Path | None
    is_on_server: bool = False
    option: str = ""

    @property
    def setting(self) -> str:
        """The setting or option that states the location."""
        return self.option or (DATABASE_URL if self.url else "FOOTNOTE_DATA_DIR")

    @property
    def name(self) -> str:
        """The location in messages."""
        return self.url or _("the data folder {data_dir}").format(data_dir=self.data_dir)

    @property
    def log(self) -> Path | None:
        """The write-ahead log; None if it is empty."""
        log = self.file and self.file.with_name(f"{self.file.name}-wal")
        return log if log and log.is_file() and log.stat().st_size else None

    @property
    def ledger(self) -> Path | str:
        """The file, or the URL without a password."""
        return self.file or self.url

    def conceal(self, error: E) -> E:
        """The error with a public message, if its message names a server."""
        if self.is_on_server and not error.public_message:
            error.public_message = _NOT_AVAILABLE if error.retryable else _NOT_USABLE
        return error

    def missing_file(self) -> StorageError:
        """The error for a missing or empty file."""
        if self.file is not None and self.file.exists():
            return self._missing(_("The ledger {file} is empty.").format(file=self.file))
        return self._missing(_("The ledger {file} is missing.").format(file=self.file))

    def missing_tables(self) -> StorageError:
        """The error for a database without Footnote's tables."""
        return self._missing(
            _("The ledger {ledger} does not contain Footnote's tables.").format(ledger=self.ledger)
        )

    def missing_rows(self) -> StorageError:
        """The error for a ledger without rows in a folder with a library's indexes."""
        return self._missing(
            _("The ledger {ledger} contains no source, document, or index.").format(
                ledger=self.ledger
            )
        )

    def _missing(self, problem: str) -> StorageError:
        pieces = [*describe_remains(self.data_dir), *([str(self.log)] if self.log else [])]
        remains = join_messages(pieces) or _("no index and no uploaded file")
        message = _(
            "{problem} {data_dir} still contains: {remains}. This can't be used without the"
            " ledger. Nothing was changed. {recovery}"
        ).format(
            problem=problem, data_dir=self.data_dir, remains=remains, recovery=self._recovery()
        )
        return self.conceal(StorageError(message))

    def foreign(self, tables: str) -> StorageError:
        """The error for a database of another program."""
        return StorageError(
            _(
                "{file} is not a Footnote ledger: it contains other tables ({tables})."
                " Nothing was changed. {recovery}"
            ).format(file=self.file, tables=tables, recovery=self._recovery())
        )

    def moved(self, place: str) -> StorageError:
        """The error for a ledger that was moved to this place; see `move_mark.Mark`."""
        template = _MOVED_TO_URL if place else _MOVED_TO_FOLDER
        error = StorageError(template.format(ledger=self.ledger, place=place))
        error.public_message = _MOVED
        return error

    def unfinished_move(self) -> StorageError:
        """The error for a ledger that does not contain the whole library yet."""
        message = _(
            "The library is being moved to {ledger}, which is not complete yet: finish `python"
            " cli.py migrate` first, or use the ledger that it was moved from."
        ).format(ledger=self.ledger)
        return self.conceal(StorageError(message))

    def damage_error(self, reason: str, findings: Sequence[str] = ()) -> DamagedLedgerError:
        """The error for a damaged ledger."""
        return self._damage(_DAMAGE, reason, findings)

    def unreadable(self, reason: str) -> DamagedLedgerError:
        """The error for a row with values that Footnote never writes."""
        return self._damage(_UNREADABLE, reason)

    def _damage(
        self, template: Message, reason: str, findings: Sequence[str] = ()
    ) -> DamagedLedgerError:
        if self.option:
            remedy = _OTHER_TARGET.format(setting=self.setting)
            return DamagedLedgerError(self.unusable(reason, remedy))
        recovery = self._recovery(is_there=True)
        message = template.format(ledger=self.ledger, reason=reason, recovery=recovery)
        return self.conceal(DamagedLedgerError(message, findings))

    def _recovery(self, *, is_there: bool = False) -> str:
        if self.url:
            return join_messages((_RESTORE_AT_URL, _BEGIN_AGAIN), " ")
        salvage = [_SALVAGE] if is_there else []
        return join_messages((_RESTORE, *salvage, _BEGIN_AGAIN), " ")

    def unwritable(self, reason: str) -> StorageError:
        """The error for missing write permission."""
        return StorageError(
            _(
                "{place} can't be written ({reason}): grant write permission to the user who runs"
                " Footnote, or name another place with {setting}"
            ).format(place=self.name, reason=reason, setting=self.setting)
        )

    def explanation(self, error: SQLAlchemyError) -> StorageError:
        """The error to report for a database failure, with what to do."""
        reason = reason_of(error)
        if reason.startswith(REFUSAL):
            return self.moved(reason.removeprefix(REFUSAL))
        if self.is_on_server:
            return postgresql.explanation(self, error, reason)
        if "database is locked" in reason:
            return self.busy()
        if "unable to open" in reason and self._is_missing():
            return self.missing_file()
        if "readonly" in reason or "unable to open" in reason:
            return self.unwritable(reason)
        if "disk is full" in reason:
            return self.full()
        if any(sign in reason for sign in _DAMAGED):
            return self.damage_error(reason)
        return StorageError(self.unusable(reason, _remedy(reason)))

    def busy(self) -> BusyError:
        """The error if another process keeps writing."""
        message = _("another process is writing to {place}: try again in a moment")
        error = BusyError(message.format(place=self.name))
        if self.is_on_server:
            error.public_message = _BUSY
        return error

    def full(self) -> StorageError:
        """The error for a full disk."""
        message = _("the disk of {place} is full: free some space and try again")
        return self.conceal(StorageError(message.format(place=self.name)))

    def unusable(self, reason: str, remedy: str) -> str:
        """The message for another problem; `remedy` is "" or follows a colon."""
        return _("{place} can't be used ({reason}){remedy}").format(
            place=self.name, reason=reason, remedy=remedy
        )

    def _is_missing(self) -> bool:
        return self.file is not None and self.file.parent.is_dir() and not self.file.exists()


def reason_of(error: Exception) -> str:
    """The database's message in one line, even if it quotes damaged text.

    Of an error of PostgreSQL, the details are omitted: they quote values.
    """
    cause = error.orig if isinstance(error, DatabaseError) else error
    reason = getattr(getattr(cause, "diag", None), "message_primary", None) or str(cause)
    return " ".join(reason.split())


def _remedy(reason: str) -> str:
    if "disk I/O error" in reason:
        return _(": check that the disk has free space and no errors, then try again")
    return ""
