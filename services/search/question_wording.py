"""Words questions about a document that read as if a person had asked them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from services.search.document_questions import question_in
from services.search.heading_words import is_name, is_topic, without_numbering
from storage.ledger.document_list_store import HeadedText

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
