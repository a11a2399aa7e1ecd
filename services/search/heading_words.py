"""Decides which titles and headings a person would use in a question."""

import re
from functools import cache
from pathlib import Path

from domain.language.script import CJK, fold

GENERIC = Path(__file__).with_name("generic_headings.txt")
_MARKS = re.compile(r"[*_`“”‘’「」『』\"]+|^#{1,6}\s+")
_UNDERSCORES = re.compile(r"(?<=[^\W_])_+(?=[^\W_])")
"""Spaces of file names, such as 인사_규정.txt; others are Markdown."""
_NUMBERING = re.compile(
    r"""
    ^(?:
      (?:chapter|section|part|article|step|appendix|annex|item|rule|lesson|unit)
        (?:\s*\d+(?:\.\d+)*|\s+(?-i:[IVXLC]+|[A-Z]))\b\s*[.:)\-–—]*\s*
    | [(\[]?\d{1,3}(?:[.\-]\d{1,3})*[.)\]:．、]+(?!\d)\s*
    | [(\[]?(?:[ivx]{1,5}|[a-z])[.)\]:．、]+(?![a-z0-9])\s*  # unlike "U.S." and "X.509"
    | [a-z](?:\.\d{1,2})+\.?\s+(?-i:(?=[A-Z]))
    | \d{1,3}(?:\.\d{1,3})+\s+
    | \d{1,2}\s+(?-i:(?=[A-Z]))
    | 제\s*\d+\s*[장절조항편부]\s*[.:]?\s*
    | 第\s*[\d０-９一二三四五六七八九十]+\s*[章節条項部編]\s*
    | [①-⑳⑴-⒇Ⅰ-Ⅻ●■◆○□▶▷※・•◎☆★\-–—]+\s*[.．]?\s*
    )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_SPACES = re.compile(r"\s+")
_SHORTEST = {"latin": 3, "korean": 2, "japanese": 2}
_LONGEST = {"latin": 60, "korean": 28, "japanese": 28}
_MOST_WORDS = {"latin": 7, "korean": 5, "japanese": 5}
_LONGEST_ACRONYM = 5
_ODD = re.compile(r"[{}<>|=\\/@#$^~;:\[\]…!?。、！？：；～※★♡♥【】《》〈〉.,_]|\s[-–—]\s")
"""Punctuation of code and of sentences."""
_VAGUE = re.compile(
    r"\b(?:https?|www|example|sample|dummy|fake|lorem|ipsum|untitled|placeholder|foo|bar|baz|test|title|"
    r"slide|search|more|further|i|my|me|you|your|we|our|us)\b",
    re.IGNORECASE,
)
"""Placeholders, and words whose meaning depends on the writer or the page."""
_CUT_OFF = re.compile(
    r"\b(?:and|or|of|the|an?|in|on|at|to|for|with|by|from|as|but|not|no)$", re.IGNORECASE
)
_SENTENCE = re.compile(
    r"\b(?:is|are|was|were|will|shall|should|must|can|cannot|may|has|have|had|does|did|that|which)\b",
    re.IGNORECASE,
)
_CJK_SENTENCE = re.compile(
    r"(?:니다|[아어네군까나]요|[한된있없하되는했였이간온란]다|[다라]고|지만|면서|는데|세요|"
    r"ます|です|ません|[しっいん]た|ください|である|[なた]い|[だよねんるくてでにをはがのとも]|から|まで|けど)$"
)


def without_numbering(text: str) -> str:
    """The text without its number, quotes, and Markdown, which would break a question."""
    plain = _plain(text)
    while (rest := _NUMBERING.sub("", plain, count=1)) != plain:
        plain = rest
    return plain


def _plain(text: str) -> str:
    return _SPACES.sub(" ", _MARKS.sub("", _UNDERSCORES.sub(" ", text))).strip()


def is_topic(topic: str, script: str) -> bool:
    """Whether a heading without its number names something that a document can discuss."""
    return _reads_well(topic, script) and not _SENTENCE.search(topic)


def is_name(title: str, script: str) -> bool:
    """Whether people would call the document by this title."""
    return script in _SHORTEST and _reads_well(without_numbering(title), script)


def _reads_well(text: str, script: str) -> bool:
    if not _SHORTEST[script] <= len(text) <= _LONGEST[script] or is_generic(text):
        return False
    if len(text.split()) > _MOST_WORDS[script] or sum(map(str.isdigit, text)) * 4 > len(text):
        return False
    if _ODD.search(text) or _VAGUE.search(text):
        return False
    if not text[0].isalpha() or not _are_brackets_closed(text):
        return False
    return _is_english_phrase(text) if script == "latin" else _is_cjk_phrase(text)


def _is_english_phrase(text: str) -> bool:
    """Whether the text starts with a capital, is not shouted, and seems to be complete."""
    has_word = any(len(word) >= _SHORTEST["latin"] and word.isalpha() for word in text.split())
    is_shouted = text.isupper() and len(text) > _LONGEST_ACRONYM
    is_plain = text.isascii() and text[0].isupper()
    return is_plain and has_word and not is_shouted and not _CUT_OFF.search(text)


def _is_cjk_phrase(text: str) -> bool:
    is_own = re.match(f"[{CJK}A-Za-z]", text) and re.search(f"[{CJK}]{{2}}", text)
    return bool(is_own) and not _CJK_SENTENCE.search(text)


def _are_brackets_closed(text: str) -> bool:
    return all(text.count(one) == text.count(other) for one, other in ("()", "（）"))


def is_generic(text: str) -> bool:
    """Whether every document could have this heading, such as "Contents" or "개요"."""
    return fold(re.sub(r"[\s.:：\-–—()（）\d]+", "", text)) in _generic()


@cache
def _generic() -> frozenset[str]:
    lines = GENERIC.read_text(encoding="utf-8").splitlines()
    return frozenset(fold(line.replace(" ", "")) for line in lines if line.strip())
