"""Summarizes a document without a model, by quoting its opening and most central sentences."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple, Protocol

from langchain_core.documents import Document
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.utils import AddableDict

from chains.citations.visible_text import escape
from chains.condensing.condense import Condenser
from chains.condensing.follow_ups import Idf
from chains.history import last_citations, render_history
from chains.requests.built_in_answer import Inputs, Quotation, answer_pieces
from chains.requests.central_sentences import CentralSentence, central_sentences
from chains.requests.phrases import compile_pattern, load_phrases
from chains.streaming_runnable import StreamingRunnable
from domain.language.script import Language


class SummaryRequest(NamedTuple):
    """The subject to summarize ("" if the text only refers to it), and the request's language.

    With `only_if_named`, the text is a request only if there is a document named `subject`, because
    "What is X about?" may ask about X itself.
    """

    subject: str
    language: Language
    only_if_named: bool = False

    @property
    def asks_for_a_part(self) -> bool:
        """Whether the request is for a part of the content, unless a document has that name."""
        return _subject_pattern("part").search(self.subject) is not None


_MAX_CHARS = 300
_OUTER = " \t\n.,:;!?。、．：？！…\"'“”‘’「」『』〈〉《》[]()（）*`"
_PARTICLE = re.compile(r"(?<=[가-힣\w\"'”’」』])(?:을|를)\Z")


def summary_request(text: str) -> SummaryRequest | None:
    """The request if the whole text is one; None for any other question."""
    normal = unicodedata.normalize("NFKC", text).strip()
    if len(normal) > _MAX_CHARS:
        return None
    plain = normal.rstrip(_OUTER) or normal
    for form, language, only_if_named in _forms():
        if match := form.fullmatch(plain):
            subject = _subject(next((part for part in match.groups() if part), ""))
            return SummaryRequest(subject, language, only_if_named)
    return None


@cache
def _forms() -> list[tuple[re.Pattern[str], Language, bool]]:
    phrases = load_phrases("summary")
    return [
        (compile_pattern(form, phrases["parts"]), language, table == "forms_if_named")
        for table in ("forms", "forms_if_named")
        for language, form in phrases[table].items()
    ]


@cache
def _subject_pattern(name: str) -> re.Pattern[str]:
    return compile_pattern(load_phrases("summary")["subjects"][name], {})


def _subject(text: str) -> str:
    subject = _PARTICLE.sub("", text.strip(_OUTER)).strip(_OUTER)
    if _subject_pattern("only_points").fullmatch(subject):
        return ""
    return _subject_pattern("kind_of_document").sub("", subject).strip(_OUTER) or subject


class FindsDocuments(Protocol):
    """Finds the document to summarize; all methods return its passages in order, or no passages."""

    def named(self, name: str) -> list[Document]:
        """The document with that name."""

    def nearest(self, text: str) -> list[Document]:
        """The document closest to the text."""

    def only(self) -> list[Document]:
        """The only document, if there is exactly one."""

    def known(self, document_id: str) -> list[Document]:
        """The document with that id."""


class Summarizer(StreamingRunnable[Inputs, Inputs]):
    """Answers requests for a summary with an extract of the document.

    The inputs are `question`, `chat_history`, and optionally `standalone_question`, which then
    names the document. If no document has that name, a question that may ask for something else or
    for a part ("the steps to ...") is passed to `otherwise`.
    """

    def __init__(
        self,
        documents: FindsDocuments,
        condense: Condenser,
        otherwise: Runnable[Inputs, Inputs],
        idf: Idf | None = None,
    ) -> None:
        self._documents = documents
        self._condense = condense
        self._otherwise = otherwise
        self._idf = idf

    def stream(
        self, input: Inputs, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[Inputs]:
        """The searched question, the quoted passages, and the extract."""
        request = summary_request(input["question"]) or SummaryRequest("", "english")
        subject = input.get("standalone_question") or request.subject
        passages = self._documents.named(subject) if subject else []
        if not passages and subject and (request.only_if_named or request.asks_for_a_part):
            yield from self._otherwise.stream(_of_the_part(input, request), config, **kwargs)
            return
        if not subject and not (passages := self._implied_document(input)):
            subject = self._subject_of_conversation(input, config)
        texts, introduction = load_phrases("summary"), "introduction"
        if subject and not passages:
            passages = self._documents.nearest(subject)
            introduction = "introduction_of_nearest"
        if passages:
            yield from _extract(texts[introduction][request.language], subject, passages, self._idf)
        else:
            yield from answer_pieces([texts["which"][request.language]])

    def _implied_document(self, inputs: Inputs) -> list[Document]:
        """The only document, or else the last cited one."""
        citations = last_citations(inputs.get("chat_history") or ())[:1]
        ids = [str(one.get("extras", {}).get("document_id", "")) for one in citations]
        return self._documents.only() or (self._documents.known(ids[0]) if any(ids) else [])

    def _subject_of_conversation(self, inputs: Inputs, config: RunnableConfig | None) -> str:
        """The request completed from the conversation, or "" without a history."""
        history = inputs.get("chat_history") or ()
        if not render_history(history):
            return ""
        follow_up = {"question": inputs["question"], "chat_history": history}
        return self._condense.invoke(follow_up, config)


def is_summary_request(inputs: Inputs) -> bool:
    """Whether `question` asks for a summary of a document."""
    return summary_request(inputs["question"]) is not None


def _of_the_part(inputs: Inputs, request: SummaryRequest) -> Inputs:
    """The inputs without the words of the request itself, which no document contains."""
    return inputs if request.only_if_named else {**inputs, "question": request.subject}


def _extract(
    introduction: str, subject: str, passages: Sequence[Document], idf: Idf | None
) -> Iterator[Inputs]:
    title = passages[0].metadata.get("title") or ""
    yield AddableDict(searched_questions=[subject or title])
    sentences = central_sentences(passages, idf)
    indices = sorted({sentence.index for sentence in sentences})
    yield AddableDict(source_documents=[passages[index] for index in indices])
    opening = introduction.format(title=escape(title))
    yield from answer_pieces([opening, *_quoted(sentences, indices)])


def _quoted(
    sentences: Sequence[CentralSentence], indices: Sequence[int]
) -> Iterator[str | Quotation]:
    """The sentences; the first one of each section follows the section's heading."""
    section = ""
    for sentence in sentences:
        if sentence.section != section:
            section = sentence.section
            yield f"**{escape(section.strip())}**"
        yield Quotation(indices.index(sentence.index) + 1, sentence.words)
