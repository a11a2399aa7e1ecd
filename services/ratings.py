"""People say what they think of answers, and a rated question can be asked of search again."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from domain import Principal, Turn
from errors import InputError
from services.labels import LabelService
from storage.indexes import Indexes
from storage.passage_finder import PassageFinder
from storage.ratings import Rating, Ratings, Reason

if TYPE_CHECKING:
    from langchain_core.documents import Document

__all__ = ["Rating", "RatingService", "Reason", "Replay", "Replayed"]

MAX_COMMENT_CHARS = 2000
SearchAgain = Callable[[Principal, Turn], "list[Document]"]
"""The passages for a turn's standalone question, searched as it was then, best first."""
_SAYS_NOTHING_OF_PASSAGES = {Reason.INCOMPLETE, Reason.NOT_FOUND, Reason.TOO_SLOW, Reason.OTHER}


@dataclass(frozen=True, slots=True)
class Replayed:
    """A passage that a turn was answered from, and its rank then and now, both from 1.

    `rank_now` is None where search does not find it any more.
    """

    title: str
    passage_id: str
    rank_then: int
    rank_now: int | None


@dataclass(frozen=True, slots=True)
class Replay:
    """What search finds for a turn's question today, beside what it found then.

    `found_now` are the titles of the passages found now, best first.
    """

    question: str
    passages: tuple[Replayed, ...]
    found_now: tuple[str, ...]


@dataclass(frozen=True)
class RatingService:
    """Keeps each person's ratings. The turn holds what was asked and searched, and how."""

    ratings: Ratings
    labels: LabelService
    indexes: Indexes
    finder: PassageFinder
    search_again: SearchAgain

    def rate(
        self,
        principal: Principal,
        turn_id: str,
        grade: int | None,
        reason: Reason | None = None,
        comment: str = "",
    ) -> Rating | None:
        """Keep a thumb (1 up, 0 down) on an answer with its reason; None takes it back.

        A thumb up, and one down for no reason, because the answer is wrong or its sources are,
        also labels the passages that the answer cites. Other reasons say nothing of these.

        Raises:
            InputError: The grade is neither, or the comment is longer than 2,000 characters or no
                text.
            NotFoundError: The person has no such turn.
        """
        turn = self.ratings.turn(principal, turn_id)
        if grade is None:
            self.ratings.remove(principal, turn_id)
            self.labels.rate(principal, turn, None)
            return None
        if grade not in (0, 1):
            raise InputError(f"A grade is 1 (up) or 0 (down), not {grade}.")
        told = _checked_comment(comment)
        self.labels.rate(principal, turn, None if reason in _SAYS_NOTHING_OF_PASSAGES else grade)
        return self.ratings.put(principal, turn_id, grade, reason, told)

    def rating(self, principal: Principal, turn_id: str) -> Rating | None:
        """What the person thought of that answer; None where they have not said."""
        return self.ratings.get(principal, turn_id)

    def replay(self, principal: Principal, turn_id: str) -> Replay:
        """Search again as the turn was searched, in the library as it is now; nothing is kept.

        A passage counts as found again where its text is, though its document was imported or
        split anew since.

        Raises:
            NotFoundError: The person has no such turn.
            InputError: The turn was searched in a source that is not there any more.
        """
        turn = self.ratings.turn(principal, turn_id)
        found = self.search_again(principal, turn)
        ranks = {passage.id: rank for rank, passage in enumerate(found, start=1)}
        index = self.indexes.active()
        today = {} if index is None else self.finder.find(index.id, turn.sources)
        return Replay(
            question=turn.standalone_question or turn.question,
            passages=tuple(
                Replayed(
                    source.title,
                    source.passage_id,
                    source.n,
                    ranks.get(today.get(source.passage_id, "")),
                )
                for source in turn.sources
            ),
            found_now=_titles(found),
        )


def _titles(found: "Sequence[Document]") -> tuple[str, ...]:
    return tuple(str(passage.metadata["title"]) for passage in found)


def _checked_comment(comment: str) -> str:
    told = comment.strip()
    if len(told) > MAX_COMMENT_CHARS:
        raise InputError(
            f"The comment has {len(told):,} characters, the most is {MAX_COMMENT_CHARS:,}: shorten"
            " it."
        )
    if told != told.encode(errors="replace").decode():
        raise InputError("The comment holds bytes that are no letters: type it again in UTF-8.")
    return told
