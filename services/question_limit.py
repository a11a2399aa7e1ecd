"""Limits the questions of a person per minute, over all interfaces."""

import math
from dataclasses import dataclass

from domain import Principal
from domain.errors import LimitError
from domain.messages import _
from storage.ledger.usage_store import RecentQuestions


@dataclass(frozen=True)
class QuestionLimit:
    """At most so many questions of a person within any minute; None for no limit.

    The operator is not limited. Keys and tokens of a person count together.
    """

    questions: RecentQuestions
    per_minute: int | None

    def count(self, principal: Principal) -> None:
        """Count a question.

        Raises:
            LimitError: The person has asked too many; the message says when the next is possible.
        """
        if self.per_minute is None or principal.is_operator:
            return
        seconds = self.questions.add(principal.user_id, self.per_minute)
        if seconds > 0:
            raise LimitError(
                _(
                    "The limit of {limit} questions a minute (FOOTNOTE_QUESTIONS_PER_MINUTE) is"
                    " reached. Ask the next question in {seconds} seconds."
                ).format(limit=self.per_minute, seconds=math.ceil(seconds)),
                retry_after_s=seconds,
            )
