"""Words questions about a document that read as if a person had asked them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from pathlib import Path
from typing import NamedTuple

from domain.language.script import CJK, fold, script_of
from storage.ledger.document_list_store import HeadedText

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


_SHORTEST_QUESTION = {"latin": 15, "korean": 7, "japanese": 7}
_LONGEST_QUESTION = 90
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
    return question if _is_clear(question) else ""


def _complete(question: str) -> str:
    """The question with words that headings omit: "How do I get help?" for "How to get help"."""
    if _HOW_TO.match(question):
        verb, _, rest = _HOW_TO.sub("", question).rstrip("?").partition(" ")
        return f"How do I {verb.lower()} {rest}".strip() + "?"
    return f"{question}?" if _ASKS.match(question) and question[-1:].isalnum() else question


def _is_clear(question: str) -> bool:
    script = {"chinese": "japanese"}.get(script_of(question), script_of(question))
    if (
        script not in _SHORTEST_QUESTION
        or not _SHORTEST_QUESTION[script] <= len(question) <= _LONGEST_QUESTION
    ):
        return False
    if _NEEDS_CONTEXT.search(question) or re.search(r"[?？.].|[_{}<>|]{2}|…", question):
        return False
    if script == "latin" and (
        len(question.split()) < _LEAST_WORDS or not _ASKS.match(question) or question.isupper()
    ):
        return False
    return _ENDS_AS_QUESTION[script].search(question) is not None


# In the language of the document, regardless of the language of the pages.
_ABOUT = {
    "latin": "What does “{title}” say about {topic}?",
    "korean": "‘{title}’에는 ‘{topic}’에 대해 어떻게 나와 있나요?",
    "japanese": "「{title}」には「{topic}」について何と書かれていますか？",
}
_WHOLE = {
    "latin": "What is “{title}” about?",
    "korean": "‘{title}’에는 어떤 내용이 있나요?",
    "japanese": "「{title}」には何が書かれていますか？",
}
_LEAST_LETTERS = {"latin": 35, "korean": 20, "japanese": 15}
_LEADER = re.compile(r"\.{4,}|…{2,}|(?:\. ){4,}|・{4,}")
_NOT_PROSE = re.compile(r"\s*(?:#{1,6}\s|\||```|~~~)")
_ONLY_ENGLISH = frozenset(
    ("the", "and", "with", "are", "must", "your", "you", "before", "when", "which", "have", "this")
)
_ENGLISH = _ONLY_ENGLISH | {"of", "to", "is", "for", "be", "by", "on", "not", "at", "a"}
_LEAST_ENGLISH = 2


class Kind(IntEnum):
    """What a question is made of, best first."""

    QUESTION = 0
    """A question of the document itself, as in an FAQ."""
    TOPIC = 1
    """A heading."""
    WHOLE = 2
    """The document's title."""


class Suggestion(NamedTuple):
    """A question and what it is made of."""

    kind: Kind
    question: str


@dataclass(frozen=True)
class Subject:
    """A document about which questions are worded: its title, script, and first passages."""

    title: str
    script: str
    passages: Sequence[HeadedText]

    def suggestions(self) -> list[Suggestion]:
        """The distinct questions that the passages seem to answer; empty for other languages."""
        if self.script not in _ABOUT or not self._is_readable():
            return []
        return list(dict.fromkeys([*self._questions(), *self._topics(), *self._whole()]))

    def _is_readable(self) -> bool:
        """Whether a text in the Latin script is English, as the templates are."""
        if self.script != "latin":
            return True
        words = set(" ".join(one.text for one in self.passages).lower().split())
        return len(words & _ENGLISH) >= _LEAST_ENGLISH and bool(words & _ONLY_ENGLISH)

    def _questions(self) -> Iterator[Suggestion]:
        for one in self.passages:
            lines = [line.strip() for line in one.text.splitlines() if line.strip()]
            for line, after in zip(lines, [*lines[1:], ""], strict=True):
                question = question_in(line)
                if question and after and not question_in(after):
                    yield Suggestion(Kind.QUESTION, question)

    def _topics(self) -> Iterator[Suggestion]:
        if not is_name(self.title, self.script):
            return
        title = without_numbering(self.title)
        for one in self.passages:
            topic = without_numbering(one.heading)
            is_new = topic.casefold() not in title.casefold()
            if is_new and is_topic(topic, self.script) and self._answers(one):
                yield Suggestion(Kind.TOPIC, self._about(title, topic, one.text))

    def _about(self, title: str, topic: str, text: str) -> str:
        if self.script == "latin":
            topic = _english_topic(topic, text)
        return _ABOUT[self.script].format(title=title, topic=topic)

    def _whole(self) -> Iterator[Suggestion]:
        if is_name(self.title, self.script) and any(map(self._answers, self.passages)):
            title = without_numbering(self.title)
            yield Suggestion(Kind.WHOLE, _WHOLE[self.script].format(title=title))

    def _answers(self, one: HeadedText) -> bool:
        """Whether the passage has prose of its own, unlike a table of contents."""
        lines = [line for line in one.text.splitlines() if not _NOT_PROSE.match(line)]
        prose = "\n".join(lines).replace(one.heading, "")
        letters = sum(map(str.isalpha, prose))
        return letters >= _LEAST_LETTERS[self.script] and not _LEADER.search(prose)


def _english_topic(topic: str, text: str) -> str:
    """The topic in lower case if the text uses it so, as a common noun; otherwise in quotes."""
    lower = topic.lower()
    is_common = re.search(rf"\b{re.escape(lower)}\b", text) is not None
    return lower if is_common else f"“{topic}”"
