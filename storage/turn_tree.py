"""The turns of a conversation as a tree: asking something again begins another branch."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from errors import NotFoundError

LATEST: Final = "latest"
"""In place of a turn's id: the last turn of the branch that is shown, whichever that is then."""


@dataclass(frozen=True, slots=True)
class TurnTree:
    """The ids of all turns, oldest first, each with that of the turn it follows.

    A turn is newer than the one it follows, which is None at the beginning; `shown` is the last
    turn of the branch that is shown, "" where there is no turn yet.
    """

    shown: str
    parents: Mapping[str, str | None]

    def resolve(self, turn_id: str | None) -> str | None:
        """The turn that is meant by an id or `LATEST`; None is the beginning.

        Raises:
            NotFoundError: There is no such turn.
        """
        if turn_id == LATEST:
            return self.shown or None
        if turn_id is not None and turn_id not in self.parents:
            raise NotFoundError(f"There is no turn {turn_id} in this conversation: read it again.")
        return turn_id

    def branch(self, last: str | None) -> list[str]:
        """The turns from the first one to this one."""
        ids = []
        while last is not None:
            ids.append(last)
            last = self.parents[last]
        return ids[::-1]

    def versions(self) -> dict[str, tuple[str, ...]]:
        """For each turn those that follow the same turn, itself among them, oldest first."""
        children = defaultdict(list)
        for turn_id, parent in self.parents.items():
            children[parent].append(turn_id)
        together = {parent: tuple(ids) for parent, ids in children.items()}
        return {turn_id: together[parent] for turn_id, parent in self.parents.items()}

    def newest_below(self, turn_id: str) -> str:
        """The newest of the turn and all that came of it; nothing came of that one yet."""
        below = {turn_id: None}
        for child, parent in self.parents.items():
            if parent in below:
                below[child] = None
        return next(reversed(below))
