"""Answers greetings, thanks, and "Who are you?" without searching the documents."""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from functools import cache
from typing import Any, NamedTuple

from langchain_core.runnables import RunnableConfig

from chains.citations.visible_text import escape
from chains.requests.built_in_answer import Inputs, answer_pieces
from chains.requests.phrases import load_phrases
from chains.streaming_runnable import StreamingRunnable
from domain.language.script import HAN, KANA, Language, answer_language

MAX_CHARS = 120
"""Longer texts are not small talk."""


class SmallTalk(StrEnum):
    """The kinds of small talk, which are answered without searching the documents."""

    GREETING = "greeting"
    FAREWELL = "farewell"
    THANKS = "thanks"
    INTRODUCTION = "introduction"
    """A question about the program or what it can answer."""


_APOSTROPHE = re.compile(r"(?<=[a-z])['’](?=[a-z])")
_LAUGHTER = re.compile("[ㅋㅎㅠㅜ]{2,}")
_NO_WORD = re.compile(r"[\W_]+")
_PRECEDENCE = (SmallTalk.INTRODUCTION, SmallTalk.THANKS, SmallTalk.FAREWELL, SmallTalk.GREETING)


def small_talk(text: str) -> SmallTalk | None:
    """The kind of small talk if the text contains nothing else, otherwise None.

    Among several phrases ("Hi! What can you do?"), the one with the longest answer decides.
    """
    if len(text) > MAX_CHARS:
        return None
    normal = unicodedata.normalize("NFKC", _LAUGHTER.sub(" ", text)).casefold()
    phrases = _phrases_only().fullmatch(_NO_WORD.sub(" ", _APOSTROPHE.sub("", normal)).strip())
    if phrases is None:
        return None
    groups = phrases.groupdict()
    return next(kind for kind in _PRECEDENCE if groups[kind] is not None)


@cache
def _phrases_only() -> re.Pattern[str]:
    phrases = load_phrases("small_talk")["phrases"]
    kinds = "|".join(f"(?P<{kind}>{phrases[kind]})" for kind in SmallTalk)
    # In Japanese, there is no space between two phrases.
    between = rf"\ |\Z|(?<=[{KANA}{HAN}])(?=[{KANA}{HAN}])"
    return re.compile(rf"(?:(?:{kinds})(?:{between}))+", re.VERBOSE)


class LibraryFacts(NamedTuple):
    """The number of searchable documents, and sample questions about them in any language."""

    documents: int
    questions: Sequence[str] = ()


EXAMPLES = 3
"""The number of sample questions shown; those in the language of the reply come first."""


class SmallTalkAnswerer(StreamingRunnable[Inputs, Inputs]):
    """Replies to small talk in the same language, without searching."""

    def __init__(self, library: Callable[[], LibraryFacts]) -> None:
        """`library` is called only for an introduction."""
        self._library = library

    def stream(
        self,
        input: Inputs,
        config: RunnableConfig | None = None,  # noqa: ARG002  # the signature is LangChain's
        **kwargs: Any,  # noqa: ARG002  # the same
    ) -> Iterator[Inputs]:
        """The reply to `question`, one piece per paragraph."""
        kind, language = small_talk(input["question"]), answer_language(input["question"])
        if kind is None or kind is SmallTalk.INTRODUCTION:
            yield from answer_pieces(_introduction(self._library(), language))
        else:
            yield from answer_pieces([load_phrases("small_talk")["replies"][kind][language]])


def is_small_talk(inputs: Inputs) -> bool:
    """Whether `question` is small talk and no `standalone_question` replaces it."""
    return not inputs.get("standalone_question") and small_talk(inputs["question"]) is not None


def _introduction(library: LibraryFacts, language: Language) -> Iterator[str]:
    texts = load_phrases("small_talk")
    yield texts["introduction"][language]
    holdings = {0: "empty", 1: "one_document"}.get(library.documents, "documents")
    yield texts[holdings][language].format(n=library.documents)
    if library.questions:
        own = [one for one in library.questions if answer_language(one) == language]
        examples = list(dict.fromkeys([*own, *library.questions]))[:EXAMPLES]
        yield texts["for_example"][language]
        yield "\n".join(f"- {escape(question)}" for question in examples)
