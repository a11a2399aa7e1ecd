"""Answers "Which document says ...?" with titles and a quote from each document."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.utils import AddableDict

from chains.citations.visible_text import escape
from chains.condensing.condense import Condenser, condense_follow_up
from chains.extractive.answer_decision import cosine
from chains.history import Inputs, as_chunk
from chains.model_answer import Answerer
from chains.requests.built_in_answer import (
    FindsDocuments,
    Quotation,
    answer_pieces,
    first_lines,
    whole_sentences,
)
from chains.requests.request_kinds import DocumentRequest, document_request, load_phrases
from chains.streaming_runnable import StreamingRunnable

MAX_CANDIDATES = 5
"""The number of best documents in which a supporting sentence is searched."""
MAX_NEAREST = 3
"""The number of documents offered if none supports the topic."""
PASSAGES = 3
"""The number of passages considered per document."""


class _Supported(NamedTuple):
    """A passage, and the words in it that support its document."""

    passage: Document
    words: str


@dataclass(eq=False, repr=False)
class DocumentAnswerer(StreamingRunnable[Inputs, Inputs]):
    """Answers with documents, each with the quote that the answerer selects from it alone.

    The inputs are `question`, `chat_history`, and optionally `standalone_question`, which replaces
    the topic. Documents without a quote are omitted. If there is no quote at all, the nearest
    documents are offered, and the introduction says so.
    """

    documents: FindsDocuments
    condense: Condenser
    answer: Answerer
    embeddings: Embeddings | None = None

    def stream(
        self,
        input: Inputs,
        config: RunnableConfig | None = None,
        **kwargs: Any,  # noqa: ARG002  # the signature is LangChain's
    ) -> Iterator[Inputs]:
        """The searched question, the quoted passages, and the titles with their quotes."""
        request = document_request(input["question"]) or DocumentRequest("", "english")
        topic = input.get("standalone_question") or self._topic(request, input, config)
        yield AddableDict(searched_questions=[topic])
        documents = self._candidates(topic, config)
        answerable = {**input, "question": topic, "typed_question": input["question"]}
        supported = self._find_support(answerable, documents, config)
        introduction = "introduction" if len(supported) > 1 else "introduction_of_one"
        if not supported:
            supported = self._nearest(topic, documents)
            introduction = "introduction_of_nearest" if supported else "nothing_found"
        yield AddableDict(source_documents=[one.passage for one in supported])
        text = load_phrases("document_search")[introduction][request.language]
        yield from answer_pieces([text, *_list_pieces(supported)])

    def _topic(
        self, request: DocumentRequest, inputs: Inputs, config: RunnableConfig | None
    ) -> str:
        """The topic of the request, completed from the conversation if it refers back to it."""
        condensed = condense_follow_up(self.condense, inputs, config)
        if condensed in ("", inputs["question"]):
            return request.topic or inputs["question"]
        complete = document_request(condensed)
        return complete.topic if complete else condensed

    def _candidates(self, topic: str, config: RunnableConfig | None) -> list[list[Document]]:
        """The first passages of the best documents; the one with the nearest title is second.

        Across languages, titles match a topic better than passages do.
        """
        best = _by_document(self.documents.retriever().invoke(topic, config))[:MAX_CANDIDATES]
        passages_by_title = self.documents.nearest(topic)[:PASSAGES]
        documents = _by_document([*chain.from_iterable(best), *passages_by_title])
        ids = {one.metadata["document_id"] for one in passages_by_title}
        by_title = [one for one in documents[1:] if one[0].metadata["document_id"] in ids]
        rest = [one for one in documents[1:] if one not in by_title]
        return [*documents[:1], *by_title, *rest]

    def _find_support(
        self, inputs: Inputs, documents: Sequence[list[Document]], config: RunnableConfig | None
    ) -> list[_Supported]:
        """The documents that the answerer quotes for the topic, in order of rank."""
        supported: list[_Supported] = []
        for passages in documents:
            message = self.answer.invoke({**inputs, "input_documents": passages}, config)
            for one in as_chunk(message).additional_kwargs.get("citations", ())[:1]:
                passage = passages[one["extras"]["n"] - 1]
                supported.append(_Supported(passage, one["cited_text"]))
        return supported

    def _nearest(self, topic: str, documents: Sequence[list[Document]]) -> list[_Supported]:
        """The best documents, each with the words nearest to the topic."""
        passages = [one[0] for one in documents[:MAX_NEAREST]]
        quoted = ((one, self._nearest_words(topic, one)) for one in passages)
        return [_Supported(one, words) for one, words in quoted if words]

    def _nearest_words(self, topic: str, passage: Document) -> str:
        """The sentence of the passage nearest to the topic, or "" if none can be quoted."""
        words = [one.words for one in whole_sentences(passage)]
        if not words:
            return next((line for _, line in first_lines([passage])), "")
        if self.embeddings is None:
            return words[0]
        vector = self.embeddings.embed_query(topic)
        cosines = [cosine(vector, other) for other in self.embeddings.embed_documents(words)]
        return words[cosines.index(max(cosines))]


def _by_document(results: Sequence[Document]) -> list[list[Document]]:
    """The first passages of each document; documents are in order of first occurrence."""
    documents: dict[str, list[Document]] = {}
    for passage in results:
        documents.setdefault(passage.metadata["document_id"], []).append(passage)
    return [passages[:PASSAGES] for passages in documents.values()]


def _list_pieces(supported: Sequence[_Supported]) -> Iterator[str | Quotation]:
    for n, one in enumerate(supported, start=1):
        name = one.passage.metadata.get("title") or one.passage.metadata["location"]
        yield f"**{escape(name)}**"
        yield Quotation(n, one.words)
