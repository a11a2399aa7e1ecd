"""Labels seen as questions with judged passages."""

from dataclasses import dataclass

from errors import InputError
from evaluation.datasets import LabelledQuestion
from services.questions import require_letters

MAX_QUESTION_CHARS = 20_000


@dataclass(frozen=True, slots=True)
class LabelledQuestions:
    """The questions with the passages judged for them, by today's passage ids.

    `lost` labels are of passages that could not be found again; they are not among these.
    """

    questions: tuple[LabelledQuestion, ...]
    lost: int

    def nothing_to_measure(self) -> str:
        """What to tell a person whose questions have no right passage."""
        lost = f" {self.lost} labels are of passages that are gone." if self.lost else ""
        return (
            "No question has a right passage in the library yet: mark one in the lab, rate an"
            f" answer or import labels.{lost}"
        )


def checked_question(question: str) -> str:
    """The question without the white space around it.

    Raises:
        InputError: It is empty, too long or no text.
    """
    asked = question.strip()
    if not asked:
        raise InputError("The question is empty: a label says what a passage is right for.")
    if len(asked) > MAX_QUESTION_CHARS:
        raise InputError(f"A labelled question has at most {MAX_QUESTION_CHARS:,} characters.")
    require_letters(asked, "question")
    return asked
