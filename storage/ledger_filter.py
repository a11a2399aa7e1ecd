"""Filters passages by what the ledger knows of them, where the vector store can't be read."""

from collections.abc import Callable

from sqlalchemy import literal, select

from domain import Filter
from language.script import script_of
from storage.database import Database
from storage.filters import checks_of, fields_of, matches
from storage.passage_metadata import passage_metadata
from storage.tables import DocumentRow, PassageRow


class LedgerFilter:
    """Slower than the vector store: each filter reads a row for each passage."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def allowed(self, index_id: str, conditions: Filter) -> Callable[[str], bool]:
        """Whether an id is that of a passage in the index which satisfies the filter, exactly.

        Raises:
            ValueError: The filter can't be understood.
        """
        checks = checks_of(conditions)
        is_script_checked = "script" in fields_of(checks)
        text = PassageRow.text if is_script_checked else literal("")
        wanted = (
            select(PassageRow.id, PassageRow.page, text.label("text"), DocumentRow)
            .join(DocumentRow, DocumentRow.id == PassageRow.document_id)
            .where(PassageRow.index_id == index_id)
        )
        with self._database.read() as session:
            passing = frozenset(
                id_
                for id_, page, text, document in session.execute(wanted)
                if matches(checks, passage_metadata(document, page, script_of(text)))
            )
        return passing.__contains__
