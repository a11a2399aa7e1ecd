"""Rewrites a follow-up as a standalone question, and a question in other words."""

import json
import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Any, cast

from langchain_core.documents import Document
from langchain_core.language_models import LanguageModelLike
from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.prompts import BasePromptTemplate
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda

from chains.chat_prompts import CONDENSE_PROMPT, REASONING, REPHRASE_PROMPT, complete_text
from chains.condensing.follow_ups import Idf, leans_on_history, salient_terms, terms
from chains.history import as_chunk, render_history
from chains.streaming_runnable import StreamingRunnable
from domain.language.sanitization import sanitize
from domain.language.script import HAN
from domain.language.tokens import content_tokens
from domain.logs import get_logger

Condenser = Runnable[dict[str, Any], str]
"""Returns the standalone question for `question` and `chat_history` (see `chains.history`)."""

_log = get_logger("questions")

ADDED_TERMS = 3
MAX_REWRITE_CHARS = 1_000
"""The maximum length of a rewrite, unless twice the follow-up is longer; more is an answer."""
MARKER = re.compile(r"\[\d{1,3}[\]:]")
"""A marker, which shows that a rewrite is an answer or was copied from one."""

# Models often label the question: "**Standalone question:** ...", "질문: ...", "質問：...".
LABEL = re.compile(
    r"\A[\s*_#]*+(?:[\w-]+ ){0,3}[\w-]*(?:question|질문|質問|问题)[\s*_]*[:：][\s*_]*",
    re.IGNORECASE,
)
QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "「": "」", "『": "』", "«": "»", "`": "`"}

# A Japanese noun of one character does not count as a term, but 冬は? has nothing else.
_LONE_HAN = re.compile(rf"(?<![{HAN}])(?!何)[{HAN}](?=[はがをもの]|\W|\Z)")


def condense_with_model(
    llm: LanguageModelLike,
    prompt: BasePromptTemplate[Any] = CONDENSE_PROMPT,
    fallback: Condenser | None = None,
) -> Condenser:
    """A condenser that asks a chat model.

    Everything that the model adds to the question (reasoning, a label, quotes, line breaks) is
    stripped. The fallback is used if the reply was cut off, is empty, is too long for a question,
    or has citations like an answer.

    Args:
        llm: Called once per follow-up.
        prompt: Has the variables `chat_history` and `question`.
        fallback: None uses the question as typed, and accepts a reply with citations, as the
            classic chain does.
    """
    model = RunnableLambda(_prompt_inputs, name="render_history") | prompt | llm
    return _ModelCondenser(model, fallback)


@dataclass(eq=False, repr=False)
class _ModelCondenser(StreamingRunnable[dict[str, Any], str]):
    """Streams "" for each piece of the model's reply, so that the reader can stop between them."""

    model: Runnable[dict[str, Any], BaseMessage | str]
    fallback: Condenser | None

    def stream(
        self, input: dict[str, Any], config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[str]:
        reply: list[AIMessageChunk] = []
        stream = cast("Generator[BaseMessage | str]", self.model.stream(input, config, **kwargs))
        with closing(stream) as pieces:
            for piece in pieces:
                reply.append(as_chunk(piece))
                yield ""
        question = self._question(input, reply)
        if not question and self.fallback:
            question = self.fallback.invoke(input, config)
        yield question or input["question"]

    def _question(self, inputs: dict[str, Any], reply: list[AIMessageChunk]) -> str:
        """The question in the model's reply, or ""."""
        text = complete_text(reply[0] + reply[1:]) if reply else ""
        question = _standalone(text, inputs["question"])
        cites = MARKER.search(question) and not MARKER.search(inputs["question"])
        if not question or (self.fallback and cites):
            _log.warning("no standalone question from the model: using rules or the typed one")
            return ""
        return question


@dataclass(eq=False, repr=False)
class RuleCondenser(Runnable[dict[str, Any], str]):
    """Adds terms that a follow-up omits from the conversation, without a model.

    "And in Japan?" becomes "And in Japan? (annual leave, new employees)". A question that can be
    understood on its own is not changed. Without `idf`, terms are weighted only by how recently
    they were used.
    """

    idf: Idf | None = None

    def invoke(
        self, input: dict[str, Any], config: RunnableConfig | None = None, **kwargs: Any
    ) -> str:
        """The standalone question for `question` and `chat_history`."""
        return self._call_with_config(self._condense, input, config, **kwargs)

    def _condense(self, inputs: dict[str, Any]) -> str:
        question: str = inputs["question"]
        if not leans_on_history(question):
            return question
        added = salient_terms(question, inputs["chat_history"], ADDED_TERMS, self.idf)
        return f"{question} ({', '.join(added)})" if added else question


def condense_follow_up(
    condense: Condenser, inputs: Mapping[str, Any], config: RunnableConfig | None
) -> str:
    """The standalone question for `question` and `chat_history`, or "" without a history."""
    history = inputs.get("chat_history") or ()
    if not render_history(history):
        return ""
    return condense.invoke({"question": inputs["question"], "chat_history": history}, config)


def uncondensed(inputs: Mapping[str, Any]) -> list[str]:
    """The questions to search without condensing; empty if the question must be condensed first."""
    if standalone := inputs.get("standalone_question"):
        return [standalone]
    return [] if render_history(inputs["chat_history"]) else [inputs["question"]]


def questions_to_search(typed: str, standalone: str) -> list[str]:
    """The standalone question, and also the typed one if the rewrite lost all of its words.

    A word is lost if the standalone question has none of its tokens (stems, or pairs of characters
    in Korean and Japanese). A question without meaningful words ("Why?") can't lose any.
    """
    words = _words(typed)
    is_lost = words and words.isdisjoint(content_tokens(standalone))
    return [standalone, typed] if is_lost else [standalone]


def as_one_question(searched: Sequence[str]) -> str:
    """The question for the answerer: the standalone one, or `typed (standalone)` for two."""
    standalone, *typed = searched
    return f"{typed[0]} ({standalone})" if typed else standalone


def interleave(results: Sequence[list[Document]]) -> list[Document]:
    """The lists merged by taking turns, with each passage only once, at its first position.

    Passages are identified by id, or by text if they have none. The result is only as long as the
    longest list, so two searches take no more space in a prompt than one.
    """
    if len(results) == 1:
        return results[0]
    passages: dict[str, Document] = {}
    for document in filter(None, chain.from_iterable(zip_longest(*results))):
        passages.setdefault(document.id or document.page_content, document)
    return list(passages.values())[: max(map(len, results), default=0)]


def _words(question: str) -> set[str]:
    words = (*terms(question), *_LONE_HAN.findall(question))
    return {token for word in words for token in content_tokens(word)}


def _prompt_inputs(inputs: dict[str, Any]) -> dict[str, str]:
    history = render_history(inputs["chat_history"])
    return {"question": inputs["question"], "chat_history": history}


def _standalone(reply: str, typed: str) -> str:
    """The question in the reply, or "".

    Some servers leave the opening tag of the reasoning in the prompt, so all text before the
    closing tag is removed.
    """
    _, _, rewrite = REASONING.sub("", reply).rpartition("</think>")
    question = LABEL.sub("", " ".join(sanitize(rewrite).split()))
    while len(question) > 1 and _is_quoted(question):
        question = question[1:-1].strip()
    return question if len(question) <= max(MAX_REWRITE_CHARS, 2 * len(typed)) else ""


def _is_quoted(text: str) -> bool:
    """Whether one pair of quotes encloses the whole text, unlike in `"a" or "b"`."""
    closing = QUOTES.get(text[0])
    return closing is not None and text.find(closing, 1) == len(text) - 1


MAX_CHARS = 500
"""The maximum length of a rephrasing; longer lines are explanations."""

# "1. ", "2) ", "(3) ", "- ", "**4.** ", "５．", "・"; not the number of "3 days of leave?".
_BULLET = re.compile(
    r"\A[\s*_#>]*(?:\(?\d{1,2}(?:[.):][\s*_]+|[、．）]\s*)|[-+]\s[\s*_]*|[•·‣・]\s*)?"
)
_INTRODUCES = re.compile(r"[:：][\s*_]*\Z")
_AROUND = " \t*_`,\"'“”‘’「」『』«»"
_HAS_A_WORD = re.compile(r"\w")


def rephrase_with_model(
    llm: LanguageModelLike, number: int, prompt: BasePromptTemplate[Any] = REPHRASE_PROMPT
) -> Runnable[str, list[str]]:
    """Returns at most `number` rephrasings of a question, with one model call per question.

    Everything around them (reasoning, numbering, quotes, an introduction, JSON) is stripped. Fewer
    are returned if the model writes fewer or repeats the question, none if its reply was cut off.

    Args:
        llm: Called once per question.
        number: The maximum number of rephrasings, at least 1.
        prompt: Has the variables `number` and `question`.

    Raises:
        ValueError: `number` is below 1.
    """
    if number < 1:
        raise ValueError(f"the number of rephrasings must be at least 1, got {number}")
    ask = prompt | llm | RunnableLambda(complete_text)

    def rephrase(question: str) -> list[str]:
        reply = ask.invoke({"number": number, "question": question})
        return parse_rephrasings(reply, question)[:number]

    return RunnableLambda(rephrase)


def parse_rephrasings(reply: str, question: str) -> list[str]:
    """The distinct rephrasings in a model's reply, in order, except the question itself."""
    seen = {_fold(question)}
    wordings = []
    for line in _lines(REASONING.sub("", reply)):
        wording = _unwrap(line)
        if _is_wording(wording) and _fold(wording) not in seen:
            seen.add(_fold(wording))
            wordings.append(wording)
    return wordings


def _lines(reply: str) -> list[str]:
    """The lines of the reply, or the items of a JSON list."""
    try:
        parsed = json.loads(reply)
    except ValueError:
        return reply.splitlines()
    items = parsed if isinstance(parsed, list) else [parsed]
    return [" ".join(item.split()) for item in items if isinstance(item, str)]


def _unwrap(line: str) -> str:
    return _BULLET.sub("", sanitize(line)).strip(_AROUND)


def _is_wording(line: str) -> bool:
    return (
        len(line) <= MAX_CHARS
        and _HAS_A_WORD.search(line) is not None
        and _INTRODUCES.search(line) is None
    )


def _fold(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
