"""The next release of Footnote: a copy of this program with one more migration."""

from collections.abc import Sequence
from pathlib import Path

from storage.ledger.database import HEAD
from tests.deploy.containers import copy_program
from tests.fakes.next_migration import NEXT, write_next_migration

USE = """

from sqlalchemy import String

ImportRow.note = mapped_column(String, nullable=True, default="next")
ConversationRow.origin = mapped_column(String, default="next")
"""
"""Code that reads and writes the new columns of `next_migration.EXPANSION`."""


def write_next_release(
    folder: Path, statements: Sequence[str], *, oldest: str, use: str = ""
) -> None:
    """Copy the program into the folder, and add a migration, and code of the ledger's tables."""
    copy_program(folder)
    ledger = folder / "storage" / "ledger"
    write_next_migration(ledger / "migrations" / "versions", statements, oldest=oldest)
    with (ledger / "ledger_tables.py").open("a", encoding="utf-8") as file:
        file.write(use)
    database = ledger / "database.py"
    code, head = database.read_text(encoding="utf-8"), f'HEAD = "{HEAD}"'
    assert head in code
    database.write_text(code.replace(head, f'HEAD = "{NEXT}"'), encoding="utf-8")
