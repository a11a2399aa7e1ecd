"""Checks questions and titles, and sanitizes JSON."""

import json
from typing import Any

from domain.errors import InputError
from domain.language.sanitization import REPLACEMENT, sanitize
from domain.messages import _


def sanitize_json(value: Any) -> Any:
    """A copy with sanitized text; values that JSON lacks, such as NaN, become strings."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return json.loads(sanitize(text), parse_constant=str)


MAX_QUESTION_CHARS = 20_000
TITLE_CHARS = 60
MAX_TITLE_CHARS = 200
MAX_K = 1000


def checked_question(question: str) -> str:
    """The question, stripped, with U+FFFD in place of NUL, which databases reject.

    Raises:
        InputError: The question is empty, too long, or not valid Unicode.
    """
    stripped = question.replace("\0", REPLACEMENT).strip()
    if not stripped:
        raise InputError(_("The question is empty: type what you want to know."))
    if len(stripped) > MAX_QUESTION_CHARS:
        raise InputError(
            _(
                "The question has {length} characters; the limit is {max_question_chars}. Shorten"
                " it, or save the text as a file, import it, and ask about it."
            ).format(length=f"{len(stripped):,}", max_question_chars=f"{MAX_QUESTION_CHARS:,}")
        )
    require_letters(stripped, _("question"))
    return stripped


def require_letters(text: str, what: str) -> None:
    """Reject text that stores and servers don't accept; `what` names it in the message.

    Raises:
        InputError: The text contains a lone surrogate.
    """
    if text != text.encode(errors="replace").decode():
        raise InputError(
            _("The {what} contains invalid characters: enter it again as UTF-8.").format(what=what)
        )


def title_of(question: str) -> str:
    """The title of a conversation that starts with this question."""
    line = " ".join(question.split())
    return line if len(line) <= TITLE_CHARS else f"{line[: TITLE_CHARS - 1]}…"


def require_possible_k(k: int | None) -> None:
    """Reject an invalid number of passages; None means the configured number.

    Raises:
        InputError: The number is not between 1 and 1,000.
    """
    if k is not None and not 1 <= k <= MAX_K:
        raise InputError(
            _("k must be between 1 and {max_k}, not {k}.").format(max_k=f"{MAX_K:,}", k=k)
        )
