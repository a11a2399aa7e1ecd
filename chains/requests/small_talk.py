"""Answers greetings, thanks, and "Who are you?" without searching the documents."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.utils import AddableDict

from chains.citations.visible_text import escape
from chains.history import Inputs
from chains.requests.built_in_answer import answer_pieces
from chains.requests.request_kinds import SmallTalk, load_phrases, small_talk
from chains.streaming_runnable import StreamingRunnable
from domain.language.script import Language, answer_language


class LibraryFacts(NamedTuple):
    """The number of searchable documents, and sample questions about them in any language.

    The questions have the ids of the documents that answer them.
    """

    documents: int
    questions: Mapping[str, str] = MappingProxyType({})


EXAMPLES = 3
"""The number of sample questions shown; those in the language of the reply come first."""


@dataclass(eq=False, repr=False)
class SmallTalkAnswerer(StreamingRunnable[Inputs, Inputs]):
    """Replies to small talk in the same language, without searching.

    `library` is called only for an introduction.
    """

    library: Callable[[], LibraryFacts]

    def stream(
        self,
        input: Inputs,
        config: RunnableConfig | None = None,  # noqa: ARG002  # the signature is LangChain's
        **kwargs: Any,  # noqa: ARG002  # the same
    ) -> Iterator[Inputs]:
        """The reply to `question`, one piece per paragraph; `basis` has the ids of documents."""
        kind, language = small_talk(input["question"]), answer_language(input["question"])
        if kind is None or kind is SmallTalk.INTRODUCTION:
            library = self.library()
            examples = _examples(library, language)
            if examples:
                yield AddableDict(basis=[library.questions[one] for one in examples])
            yield from answer_pieces(_introduction(library.documents, examples, language))
        else:
            yield from answer_pieces([load_phrases("small_talk")["replies"][kind][language]])


def _introduction(documents: int, examples: Sequence[str], language: Language) -> Iterator[str]:
    texts = load_phrases("small_talk")
    yield texts["introduction"][language]
    holdings = {0: "empty", 1: "one_document"}.get(documents, "documents")
    yield texts[holdings][language].format(n=documents)
    if examples:
        yield texts["for_example"][language]
        yield "\n".join(f"- {escape(question)}" for question in examples)


def _examples(library: LibraryFacts, language: Language) -> list[str]:
    own = [one for one in library.questions if answer_language(one) == language]
    return list(dict.fromkeys([*own, *library.questions]))[:EXAMPLES]
