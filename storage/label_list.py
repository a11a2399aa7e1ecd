"""The labels that documents carry."""

import json
from collections.abc import Collection

from sqlalchemy import select

from storage.database import Database
from storage.tables import DocumentRow


class LabelList:
    """Lists the labels in use, those of sources and those of single documents."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def names(self, source_ids: Collection[str]) -> list[str]:
        """The labels of the documents of these sources, by name."""
        # Few combinations are in use, so that few are decoded however many documents there are.
        labels = DocumentRow.details["labels"].as_string()
        wanted = select(labels).where(DocumentRow.source_id.in_(source_ids)).distinct()
        with self._database.read() as session:
            found = session.scalars(wanted).all()
        return sorted({label for told in found if told for label in json.loads(told)})
