"""Texts as requests give them, and why one is refused."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import StringConstraints

from services.questions import MAX_QUESTION_CHARS

NOT_BLANK = r"[^\s\u001c-\u001f\u0085\ufeff]"
"""The pattern of a text that has more than blanks.

Python's `strip` takes some characters for blanks that `\\s` does not match in every dialect of
patterns, and the other way round: with those named, pydantic, JSON Schema and `strip` agree.
"""

MOMENT = (
    r"^(((1[6-9]|[2-8][0-9])[0-9]{2}|9[0-8][0-9]{2}|99[0-8][0-9]|999[0-8])-"
    r"((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)"
    r"|02-(0[1-9]|1[0-9]|2[0-9]))"
    r"(T([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,6})?)?"
    r"(Z|[+-](0[0-9]|1[0-4]):[0-5][0-9])?)?)?$"
)
"""A day or a moment from 1600 to 9998, or "" for none: at the ends of time it has none in UTC."""

MOMENT_IN_UTC = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}:[0-9]{2}Z)?$"
"""A day or a moment, written as passages hold it."""

NAME_OR_EMPTY = r"^([^\s\x00-\x1f][^\x00]*)?$"
"""What begins with a letter or so is no blank name."""

MEANINGS: Mapping[str, str] = {
    NOT_BLANK: "It is empty or blank",
    MOMENT: "It is no day and no moment, as 2026-01-01 and 2026-11-21T10:00:00Z are, from 1600 to"
    " 9998",
    MOMENT_IN_UTC: "It is no day and no moment in UTC, as 2026-01-01 and 2026-11-21T10:00:00Z are",
    NAME_OR_EMPTY: "It begins with a blank or holds a NUL",
}
"""What is wrong with a text that does not match the pattern, for people: few read patterns."""

Line = Annotated[str, StringConstraints(max_length=1000)]
"""A text of a line or so, which may be empty."""

Question = Annotated[str, StringConstraints(pattern=NOT_BLANK, max_length=MAX_QUESTION_CHARS)]
"""What is asked or searched for."""
