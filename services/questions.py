"""Whether what a person asks for can be asked, and what a conversation of it is called."""

from errors import InputError

MAX_QUESTION_CHARS = 20_000
TITLE_CHARS = 60
MAX_TITLE_CHARS = 200
MAX_K = 1000


def checked_question(question: str) -> str:
    """The question without space around it.

    Raises:
        InputError: It is empty, too long or no text.
    """
    asked = question.strip()
    if not asked:
        raise InputError("The question is empty: type what you want to know.")
    if len(asked) > MAX_QUESTION_CHARS:
        raise InputError(
            f"The question has {len(asked):,} characters, the most is {MAX_QUESTION_CHARS:,}: "
            "shorten it, or save the text as a file, import it and ask about it."
        )
    require_letters(asked, "question")
    return asked


def require_letters(told: str, what: str) -> None:
    """Refuse a text that no store and no server could take; `what` names it to people.

    Raises:
        InputError: It holds half a character.
    """
    if told != told.encode(errors="replace").decode():
        raise InputError(f"The {what} holds bytes that are no letters: type it again in UTF-8.")


def title_of(question: str) -> str:
    """The title of a conversation that begins with the question."""
    line = " ".join(question.split())
    return line if len(line) <= TITLE_CHARS else f"{line[: TITLE_CHARS - 1]}…"


def require_possible_k(k: int | None) -> None:
    """Refuse a number of passages that no search gives; None is the settings'.

    Raises:
        InputError: It is not between 1 and 1,000.
    """
    if k is not None and not 1 <= k <= MAX_K:
        raise InputError(f"k must be between 1 and {MAX_K:,}, it is {k}.")
