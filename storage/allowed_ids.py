"""The passages that a filter allows."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class AllowedIds:
    """A predicate: whether an id exists and matches a filter, as of the creation of this object.

    A call takes one lookup.
    """

    def __init__(
        self, ids: Sequence[str], row_of: Mapping[str, int], passing: "npt.NDArray[np.bool_]"
    ) -> None:
        """Create the predicate.

        Args:
            ids: The id of each row; it may have gained rows that `passing` lacks.
            row_of: The row number by id.
            passing: For each row, whether it matches.
        """
        self._ids = ids
        self._row_of = row_of
        self._passing = passing

    def __call__(self, id_: str) -> bool:
        """Whether this id exists and matches."""
        unknown = len(self._passing)
        row = self._row_of.get(id_, unknown)
        return row < unknown and bool(self._passing[row])

    def count(self) -> int:
        """The number of ids, without listing them."""
        return int(self._passing.sum())

    def ids(self) -> list[str]:
        """The ids, in row order."""
        return [self._ids[row] for row in self._passing.nonzero()[0].tolist()]
