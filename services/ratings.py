"""People say what they think of answers, and a rated question can be asked again."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from domain import Principal, Source, Turn
from errors import InputError
from services.labels import LabelService
from services.questions import require_letters
from storage.indexes import Indexes
from storage.passage_finder import PassageFinder
from storage.ratings import Rated, Rating, Ratings, Reason

__all__ = ["Rated", "Rating", "RatingService", "Reason", "Replay", "Replayed"]

MAX_COMMENT_CHARS = 2000
AnswerAgain = Callable[[Principal, Turn], Turn]
"""The turn as it would be answered now, searched for the same; nothing is kept."""
_SAYS_NOTHING_OF_PASSAGES = {Reason.INCOMPLETE, Reason.NOT_FOUND, Reason.TOO_SLOW, Reason.OTHER}


@dataclass(frozen=True, slots=True)
class Replayed:
    """A passage, and its number in either answer, from 1; None where it is not among the sources.

    `page` and `location` are those of then, or of now where it is new.
    """

    title: str
    location: str
    page: int | None
    passage_id: str
    then: int | None
    now: int | None


@dataclass(frozen=True, slots=True)
class Replay:
    """An answer, beside what the same question is answered today.

    `passages` are those of then, in their order, and after them those that are new.
    """

    before: Turn
    after: Turn
    passages: tuple[Replayed, ...]


@dataclass(frozen=True)
class RatingService:
    """Keeps each person's ratings. The turn holds what was asked and searched, and how."""

    ratings: Ratings
    labels: LabelService
    indexes: Indexes
    finder: PassageFinder
    answer_again: AnswerAgain

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

    def list(self, principal: Principal) -> Sequence[Rated]:
        """What the person thought of answers, newest first, save in deleted conversations."""
        return self.ratings.list(principal)

    def replay(self, principal: Principal, turn_id: str) -> Replay:
        """Ask a turn's question again, searched as it was, of the library as it is; keeps nothing.

        A passage counts as the same where its text is, though its document was imported or split
        anew since.

        Raises:
            NotFoundError: The person has no such turn.
            InputError: The turn was searched in a source that is not there any more.
            ModelError: The model failed.
        """
        before = self.ratings.turn(principal, turn_id)
        after = self.answer_again(principal, before)
        index = self.indexes.active()
        today = {} if index is None else self.finder.find(index.id, before.sources)
        numbers = {hit.id: one.n for one in reversed(after.sources) for hit in one.found}
        now = {one.n: numbers.get(today.get(one.passage_id, "")) for one in before.sources}
        kept = [_replayed(one, one.n, now[one.n]) for one in before.sources]
        new = [_replayed(one, None, one.n) for one in after.sources if one.n not in now.values()]
        return Replay(before, after, (*kept, *new))


def _replayed(source: Source, then: int | None, now: int | None) -> Replayed:
    return Replayed(source.title, source.location, source.page, source.passage_id, then, now)


def _checked_comment(comment: str) -> str:
    told = comment.strip()
    if len(told) > MAX_COMMENT_CHARS:
        raise InputError(
            f"The comment has {len(told):,} characters, the most is {MAX_COMMENT_CHARS:,}: shorten"
            " it."
        )
    require_letters(told, "comment")
    return told
