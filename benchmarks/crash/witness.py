"""What another process sees in the ledger while a process writes to it."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

_TEXTS = "SELECT key, text FROM documents JOIN document_texts ON document_id = id"


@dataclass(frozen=True)
class Sight:
    """The ledger at one moment: the texts of its documents, and the states of other rows.

    `imports` has the state and the stage of each run, the latest first.
    """

    has_ledger: bool = False
    texts: dict[str, str] = field(default_factory=dict)
    imports: tuple[tuple[str, str], ...] = ()
    indexes: tuple[str, ...] = ()
    turns: tuple[str, ...] = ()


class Witness:
    """Looks at the ledger from outside. It keeps no connection, so a kill leaves SQLite's log."""

    def __init__(self, ledger: Path) -> None:
        self._ledger = ledger

    def look(self, *, with_texts: bool = False) -> Sight:
        """The ledger now; without its tables, as if it were empty."""
        if not self._ledger.exists():
            return Sight()
        try:
            with self._connection() as ledger:
                return _sight(ledger, with_texts=with_texts)
        except sqlite3.OperationalError:  # the tables are being created
            return Sight(has_ledger=True)

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        ledger = sqlite3.connect(f"file:{self._ledger}?mode=ro", uri=True, timeout=5)
        try:
            yield ledger
        finally:
            ledger.close()


def _sight(ledger: sqlite3.Connection, *, with_texts: bool) -> Sight:
    ledger.execute("BEGIN")  # one moment for all queries
    runs = ledger.execute("SELECT state, progress FROM imports ORDER BY started_at DESC, id")
    return Sight(
        has_ledger=True,
        imports=tuple((state, _stage(progress)) for state, progress in runs),
        indexes=tuple(state for (state,) in ledger.execute("SELECT state FROM indexes")),
        turns=tuple(state for (state,) in ledger.execute("SELECT state FROM turns")),
        texts=_texts(ledger) if with_texts else {},
    )


def _texts(ledger: sqlite3.Connection) -> dict[str, str]:
    """The texts by the names of their files."""
    return {key.rpartition("/")[2]: text for key, text in ledger.execute(_TEXTS)}


def _stage(progress: str | None) -> str:
    return str((json.loads(progress or "null") or {}).get("stage", "starting"))
