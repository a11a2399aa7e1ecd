"""The language in which a person is answered."""

import re
from typing import Literal

from language.script import script_of

Language = Literal["english", "korean", "japanese"]

# "WireGuard設定は？" is Japanese, however long the names of products in it are.
_LATIN_NAME = re.compile(r"(?<![A-Za-z])[A-Z][A-Za-z0-9_.-]*")
# Han characters alone are far more often a short Japanese question here.
_LANGUAGES: dict[str, Language] = {
    "korean": "korean",
    "japanese": "japanese",
    "chinese": "japanese",
}


def answer_language(question: str) -> Language:
    """The language to answer the question in, English where it is in none of the three."""
    return _LANGUAGES.get(script_of(_LATIN_NAME.sub("", question)), "english")
