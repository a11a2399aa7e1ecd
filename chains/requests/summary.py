"""Summarizes a document without a model, by quoting its opening and most central sentences."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.documents import Document
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.utils import AddableDict

from chains.citations.visible_text import escape
from chains.condensing.condense import Condenser
from chains.condensing.follow_ups import Idf
from chains.history import Inputs, last_citations, render_history
from chains.requests.built_in_answer import FindsDocuments, Quotation, answer_pieces
from chains.requests.central_sentences import CentralSentence, central_sentences
from chains.requests.request_kinds import SummaryRequest, load_phrases, summary_request
from chains.streaming_runnable import StreamingRunnable


@dataclass(eq=False, repr=False)
class Summarizer(StreamingRunnable[Inputs, Inputs]):
    """Answers requests for a summary with an extract of the document.

    The inputs are `question`, `chat_history`, and optionally `standalone_question`, which then
    names the document. If no document has that name, a question that may ask for something else or
    for a part ("the steps to ...") is passed to `otherwise`.
    """

    documents: FindsDocuments
    condense: Condenser
    otherwise: Runnable[Inputs, Inputs]
    idf: Idf | None = None

    def stream(
        self, input: Inputs, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[Inputs]:
        """The searched question, the quoted passages, and the extract."""
        request = summary_request(input["question"]) or SummaryRequest("", "english")
        subject = input.get("standalone_question") or request.subject
        passages = self.documents.named(subject) if subject else []
        if not passages and subject and (request.only_if_named or request.asks_for_a_part):
            yield from self.otherwise.stream(_of_the_part(input, request), config, **kwargs)
            return
        if not subject and not (passages := self._implied_document(input)):
            subject = self._subject_of_conversation(input, config)
        texts, introduction = load_phrases("summary"), "introduction"
        if subject and not passages:
            passages = self.documents.nearest(subject)
            introduction = "introduction_of_nearest"
        if passages:
            yield from _extract(texts[introduction][request.language], subject, passages, self.idf)
        else:
            yield from answer_pieces([texts["which"][request.language]])

    def _implied_document(self, inputs: Inputs) -> list[Document]:
        """The only document, or else the last cited one."""
        citations = last_citations(inputs.get("chat_history") or ())[:1]
        ids = [str(one.get("extras", {}).get("document_id", "")) for one in citations]
        return self.documents.only() or (self.documents.known(ids[0]) if any(ids) else [])

    def _subject_of_conversation(self, inputs: Inputs, config: RunnableConfig | None) -> str:
        """The request completed from the conversation, or "" without a history."""
        history = inputs.get("chat_history") or ()
        if not render_history(history):
            return ""
        follow_up = {"question": inputs["question"], "chat_history": history}
        return self.condense.invoke(follow_up, config)


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
    yield from answer_pieces([opening, *_quotations(sentences, indices)])


def _quotations(
    sentences: Sequence[CentralSentence], indices: Sequence[int]
) -> Iterator[str | Quotation]:
    """The sentences; the first one of each section follows the section's heading."""
    section = ""
    for sentence in sentences:
        if sentence.section != section:
            section = sentence.section
            yield f"**{escape(section.strip())}**"
        yield Quotation(indices.index(sentence.index) + 1, sentence.words)
