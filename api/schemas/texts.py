"""Texts as requests give them."""

from typing import Annotated

from pydantic import StringConstraints

from services.questions import MAX_QUESTION_CHARS

NOT_BLANK = r"[^\s\u001c-\u001f\u0085\ufeff]"
"""The pattern of a text that has more than blanks.

Python's `strip` takes some characters for blanks that `\\s` does not match in every dialect of
patterns, and the other way round: with those named, pydantic, JSON Schema and `strip` agree.
"""

Line = Annotated[str, StringConstraints(max_length=1000)]
"""A text of a line or so, which may be empty."""

Question = Annotated[str, StringConstraints(pattern=NOT_BLANK, max_length=MAX_QUESTION_CHARS)]
"""What is asked or searched for."""
