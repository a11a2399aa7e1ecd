"""The labels that documents carry."""

import json
from collections import defaultdict

from sqlalchemy import select

from storage.database import Database
from storage.tables import DocumentRow


class LabelList:
    """Lists the labels in use, those of sources and those of single documents."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def by_source(self) -> dict[str, set[str]]:
        """By source id, the labels of its documents; sources without any are left out."""
        # Few combinations are in use, so that few are decoded however many documents there are.
        labels = DocumentRow.details["labels"].as_string()
        # An expression, for of the bare column SQLite would go through an index and so open the
        # rows in another order than they lie: four times as slow.
        source = DocumentRow.source_id.concat("")
        found: defaultdict[str, set[str]] = defaultdict(set)
        with self._database.read() as session:
            for source_id, told in session.execute(
                select(source, labels).distinct().where(labels.is_not(None))
            ):
                found[source_id].update(json.loads(told))
        return {source_id: names for source_id, names in found.items() if names}
