"""Stores people's ratings of answers, and asks rated questions again for comparison."""

from collections.abc import Sequence
from dataclasses import dataclass

from domain import Principal, RetrievedPassage, Turn
from domain.errors import InputError
from domain.messages import _
from services.chat.chat_service import ChatService
from services.chat.withheld_turns import readable_turns
from services.evaluation.label_service import LabelService
from services.texts import require_letters
from storage.ledger.feedback_store import Rated, Rating, Ratings, Reason

__all__ = ["Rated", "Rating", "RatingService", "Reason", "Replay", "Replayed"]

MAX_COMMENT_CHARS = 2000
_SAYS_NOTHING_OF_PASSAGES = {Reason.INCOMPLETE, Reason.NOT_FOUND, Reason.TOO_SLOW, Reason.OTHER}


@dataclass(frozen=True, slots=True)
class Replayed:
    """A passage with its number in both answers, from 1; None if it is not among the sources.

    `page` and `location` are those in the earlier answer, or the current ones of a new passage.
    """

    title: str
    location: str
    page: int | None
    passage_id: str
    then: int | None
    now: int | None


@dataclass(frozen=True, slots=True)
class Replay:
    """An earlier answer, and today's answer to the same question.

    `passages` are those of the earlier answer, in order, followed by the new passages.
    """

    before: Turn
    after: Turn
    passages: tuple[Replayed, ...]


@dataclass(frozen=True)
class RatingService:
    """Stores each person's ratings; the rated turn contains the question and search settings."""

    ratings: Ratings
    labels: LabelService
    chat: ChatService

    def rate(
        self,
        principal: Principal,
        turn_id: str,
        grade: int | None,
        reason: Reason | None = None,
        comment: str = "",
    ) -> Rating | None:
        """Rate an answer thumbs up (1) or down (0), with a reason; None removes the rating.

        The rating also labels the passages that the answer cites, unless the reason says nothing
        about them: incomplete, not found, too slow, or other.

        Raises:
            InputError: The grade is not 0 or 1, or the comment is longer than 2,000 characters or
                not text.
            NotFoundError: The person has no such turn.
        """
        turn = self.ratings.turn(principal, turn_id)
        if grade is None:
            self.ratings.remove(principal, turn_id)
            self.labels.rate(principal, turn, None)
            return None
        if grade not in (0, 1):
            raise InputError(
                _("A grade must be 1 (up) or 0 (down), not {grade}.").format(grade=grade)
            )
        comment_text = _checked_comment(comment)
        self.labels.rate(principal, turn, None if reason in _SAYS_NOTHING_OF_PASSAGES else grade)
        return self.ratings.put(principal, turn_id, grade, reason, comment_text)

    def rating(self, principal: Principal, turn_id: str) -> Rating | None:
        """The person's rating of that answer; None if there is none."""
        return self.ratings.get(principal, turn_id)

    def list(self, principal: Principal) -> Sequence[Rated]:
        """The person's ratings, newest first, except those in deleted conversations."""
        return self.ratings.list(principal)

    def replay(self, principal: Principal, turn_id: str) -> Replay:
        """Ask a turn's question again in the current library, with the same search settings.

        Nothing is stored. Passages are matched by their text, even if their document has been
        imported or split again since the first answer.

        Raises:
            NotFoundError: The person has no such turn.
            InputError: The search was restricted to a source that no longer exists.
            ModelError: The model failed.
        """
        rated = self.ratings.turn(principal, turn_id)
        before = readable_turns(self.labels.access, principal, [rated])[0]
        after = self.chat.replay(principal, before)
        index = self.labels.indexes.active()
        today = {} if index is None else self.labels.finder.find(index.id, before.sources)
        numbers = {hit.id: one.n for one in reversed(after.sources) for hit in one.found}
        now = {one.n: numbers.get(today.get(one.passage_id, "")) for one in before.sources}
        replayed = [_replay(one, one.n, now[one.n]) for one in before.sources]
        new = [_replay(one, None, one.n) for one in after.sources if one.n not in now.values()]
        return Replay(before, after, (*replayed, *new))


def _replay(source: RetrievedPassage, then: int | None, now: int | None) -> Replayed:
    return Replayed(source.title, source.location, source.page, source.passage_id, then, now)


def _checked_comment(comment: str) -> str:
    stripped = comment.strip()
    if len(stripped) > MAX_COMMENT_CHARS:
        raise InputError(
            _("The comment has {length} characters; the limit is {limit}. Shorten it.").format(
                length=f"{len(stripped):,}", limit=f"{MAX_COMMENT_CHARS:,}"
            )
        )
    require_letters(stripped, _("comment"))
    return stripped
