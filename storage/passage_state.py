"""What one committed state of the passages holds, as far as this process has read it."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count

from storage.filters import MISSING, Column
from storage.new_rows import NewRows
from storage.vector_index import VectorIndex


@dataclass(slots=True)
class State:
    """The ids of all rows in row order; the costly parts are read when first needed.

    Were an id ever there twice, `row_of` has its last row, and only that one is ever shown.
    """

    version: str
    ids: list[str]
    row_of: dict[str, int]
    index: VectorIndex | None = None
    columns: dict[str, Column] = field(default_factory=dict)

    @classmethod
    def of(cls, version: str, ids: list[str]) -> "State":
        """The state in which these are the ids of the rows."""
        return cls(version, ids, {id_: row for row, id_ in enumerate(ids)})

    def rows_of(self, ids: Iterable[str]) -> list[int]:
        """Every row that has one of these ids, in ascending order."""
        wanted = {id_ for id_ in ids if id_ in self.row_of}
        if not wanted:
            return []
        return [row for row, id_ in enumerate(self.ids) if id_ in wanted]

    def after(self, version: str, gone: Sequence[int], new: NewRows | None) -> "State":
        """The state after deleting these rows and appending others; this one is used up.

        What has been read of this one is carried over, so that nothing is read again.
        """
        added = new.ids if new else ()
        if gone:
            dropped = set(gone)
            kept = [id_ for row, id_ in enumerate(self.ids) if row not in dropped]
            following = State.of(version, [*kept, *added])
        else:
            self.row_of.update(zip(added, count(len(self.ids)), strict=False))
            self.ids.extend(added)
            following = State(version, self.ids, self.row_of)
        self._carry_over(following, gone, new)
        return following

    def _carry_over(self, following: "State", gone: Sequence[int], new: NewRows | None) -> None:
        metadata = [json.loads(each) for each in new.metadata] if new and self.columns else []
        for name, column in self.columns.items():
            column.change(gone, (each.get(name, MISSING) for each in metadata))
        following.columns = self.columns
        if self.index is not None:
            vectors = new.vectors if new else self.index.vectors([])
            following.index = self.index.after(gone, len(following.ids) - len(vectors), vectors)
