"""Recognizes the questions that a document itself asks, such as the entries of an FAQ."""

import re

from domain.language.script import script_of
from services.search.heading_words import without_numbering

_SHORTEST = {"latin": 15, "korean": 7, "japanese": 7}
_LONGEST = 90
_LEAST_WORDS = 4
_EMPHASIS = re.compile(r"^(?:\*\*|__)(.+?)(?:\*\*|__)$")
_HEADING = re.compile(r"^#{1,6}\s+(.+)$")
_ENTRY = re.compile(r"^(?:Q|질문|質問|問|문)\s*\d{0,3}\s*[.:)：．、]\s*(.+)$", re.IGNORECASE)
# Korean and Japanese questions of an FAQ are polite; others are headlines.
_ENDS_AS_QUESTION = {
    "latin": re.compile(r"[^\W_]\)?\?$"),
    "korean": re.compile(r"(?:[나까가어아여해지]요|니까|죠)[?？.]?$"),
    "japanese": re.compile(r"(?:[すんたの]|ょう)か[。？?]?$|を教えてください。?$"),
}
_HOW_TO = re.compile(r"^How to (?=[A-Za-z])", re.IGNORECASE)
_ASKS = re.compile(
    r"^(?:how|what|when|where|which|who|why|can|does|do|is|are|may|should|must|will)\b",
    re.IGNORECASE,
)
_NEEDS_CONTEXT = re.compile(
    r"\b(?:it(?! (?:take|possible|cost))|its|they|them|their|this|that|these|those|he|she|his|her|"
    r"him|here|there(?! (?:a|an|any)\b))\b"
    r"|^(?:have|did|were|would|could|are|will) you\b"
    r"|\byour (?:name|age|address|e-?mail|phone|birthday|opinion)\b"
    r"|아시나요|^(?:이|그|저|여기|거기|이것|그것)[는은이가]?\s|이것|그것|당신|귀하"
    r"|^(?:これ|それ|あれ|この|その|あの|ここ|そこ)|あなた",
    re.IGNORECASE,
)


def question_in(line: str) -> str:
    """The question that a heading, an emphasized line, or an entry marked Q asks, or "".

    Questions that make sense only in their context ("How good are they?") do not count.
    """
    match = _HEADING.match(line) or _EMPHASIS.match(line) or _ENTRY.match(line)
    if match is None:
        return ""
    question = _complete(without_numbering(_ENTRY.sub(r"\1", match.group(1))))
    return question if _reads_well(question) else ""


def _complete(question: str) -> str:
    """The question with words that headings omit: "How do I get help?" for "How to get help"."""
    if _HOW_TO.match(question):
        verb, _, rest = _HOW_TO.sub("", question).rstrip("?").partition(" ")
        return f"How do I {verb.lower()} {rest}".strip() + "?"
    return f"{question}?" if _ASKS.match(question) and question[-1:].isalnum() else question


def _reads_well(question: str) -> bool:
    script = {"chinese": "japanese"}.get(script_of(question), script_of(question))
    if script not in _SHORTEST or not _SHORTEST[script] <= len(question) <= _LONGEST:
        return False
    if _NEEDS_CONTEXT.search(question) or re.search(r"[?？.].|[_{}<>|]{2}|…", question):
        return False
    if script == "latin" and (
        len(question.split()) < _LEAST_WORDS or not _ASKS.match(question) or question.isupper()
    ):
        return False
    return _ENDS_AS_QUESTION[script].search(question) is not None
