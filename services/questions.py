"""What people type: whether it can be asked, and what a conversation of it is called."""

from errors import InputError

MAX_QUESTION_CHARS = 20_000
TITLE_CHARS = 60


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
    if asked != asked.encode(errors="replace").decode():
        raise InputError("The question holds bytes that are no letters: type it again in UTF-8.")
    return asked


def title_of(question: str) -> str:
    """The title of a conversation that begins with the question."""
    line = " ".join(question.split())
    return line if len(line) <= TITLE_CHARS else f"{line[: TITLE_CHARS - 1]}…"
