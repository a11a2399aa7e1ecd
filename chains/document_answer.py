"""Questions for the documents that say something: answered with titles, and a quote for each."""

import math
from collections.abc import Iterator, Sequence
from itertools import chain
from operator import mul
from typing import Any, NamedTuple, Protocol

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.messages.content import Citation
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.utils import AddableDict

from chains.answer import Answerer, as_chunk
from chains.brackets import escape
from chains.built_in_answer import BuiltInAnswerer, Inputs, Quotation, answer_pieces
from chains.condense import Condenser
from chains.document_requests import DocumentRequest, document_request
from chains.history import render_history
from chains.whole_sentences import first_lines, whole_sentences
from language.answer_language import Language

FOUND_FIRST = 5
"""How many of the documents found first are looked at for a sentence that supports them."""
MAX_NEAREST = 3
"""How many documents are offered where none supports the topic."""
PASSAGES = 3
"""How many passages of a document are looked at."""

_INTRODUCTION: dict[Language, str] = {
    "english": "Found in these documents, the likeliest first:",
    "korean": "다음 문서에 나옵니다. 관련이 가장 깊은 문서부터 보여 드립니다.",
    "japanese": "次の文書に記述があります。関連の深いものから示します。",
}
_INTRODUCTION_OF_ONE: dict[Language, str] = {
    "english": "Found in this document:",
    "korean": "다음 문서에 나옵니다.",
    "japanese": "次の文書に記述があります。",
}


_INTRODUCTION_OF_NEAREST: dict[Language, str] = {
    "english": "I found no document that says this for certain. These are the nearest:",
    "korean": "이 내용이 확실히 나오는 문서는 찾지 못했습니다. 가장 가까운 문서는 다음과 같습니다.",
    "japanese": "確かにそう書かれている文書は見つかりませんでした。最も近いのは次の文書です。",
}
_NOTHING_FOUND: dict[Language, str] = {
    "english": "I found no document that says this.",
    "korean": "이 내용이 나오는 문서를 찾지 못했습니다.",
    "japanese": "そう書かれている文書は見つかりませんでした。",
}


class _Supported(NamedTuple):
    """A passage of a document, and the words in it that support the document."""

    passage: Document
    words: str


class FindsDocuments(Protocol):
    """Finds documents by what they say and by what they are about."""

    def retriever(self) -> Runnable[str, list[Document]]:
        """Finds passages, enough to tell documents apart."""

    def nearest(self, text: str) -> list[Document]:
        """The passages of the document that is most about the text, or none."""


class DocumentAnswerer(BuiltInAnswerer):
    """Answers with documents, each with the quote that the answerer takes from it alone.

    Takes `question`, `chat_history` and perhaps `standalone_question`, which then is the topic.
    Documents of which the answerer quotes nothing are left out; where it quotes none of them,
    the nearest ones are offered, and the introduction claims no more than that.
    """

    def __init__(
        self,
        documents: FindsDocuments,
        condense: Condenser,
        answer: Answerer,
        embeddings: Embeddings | None = None,
    ) -> None:
        """Read nothing yet."""
        self._documents = documents
        self._condense = condense
        self._answer = answer
        self._embeddings = embeddings

    def stream(
        self,
        input: Inputs,
        config: RunnableConfig | None = None,
        **kwargs: Any,  # noqa: ARG002  # the signature is LangChain's
    ) -> Iterator[Inputs]:
        """What was searched, the passages that are quoted, and the titles with their quotes."""
        request = document_request(input["question"]) or DocumentRequest("", "english")
        topic = input.get("standalone_question") or self._topic(request, input, config)
        yield AddableDict(searched_questions=[topic])
        documents = self._found(topic, config)
        answerable = {**input, "question": topic, "typed_question": input["question"]}
        supported = self._supported(answerable, documents, config)
        introduction = _INTRODUCTION if len(supported) > 1 else _INTRODUCTION_OF_ONE
        if not supported:
            supported = self._nearest(topic, documents)
            introduction = _INTRODUCTION_OF_NEAREST if supported else _NOTHING_FOUND
        yield AddableDict(source_documents=[one.passage for one in supported])
        yield from answer_pieces([introduction[request.language], *_listed(supported)])

    def _topic(
        self, request: DocumentRequest, inputs: Inputs, config: RunnableConfig | None
    ) -> str:
        """The topic of the request, with what the conversation adds where that points back."""
        question, history = inputs["question"], inputs.get("chat_history") or ()
        topic = request.topic or question
        if not render_history(history):
            return topic
        follow_up = {"question": question, "chat_history": history}
        condensed = self._condense.invoke(follow_up, config)
        if condensed == question:
            return topic
        complete = document_request(condensed)
        return complete.topic if complete else condensed

    def _found(self, topic: str, config: RunnableConfig | None) -> list[list[Document]]:
        """The first passages of the documents found first; second is that with the nearest title.

        Titles tell better than passages what is about the topic in another language.
        """
        best = _by_document(self._documents.retriever().invoke(topic, config))[:FOUND_FIRST]
        titled = self._documents.nearest(topic)[:PASSAGES]
        documents = _by_document([*chain.from_iterable(best), *titled])
        ids = {one.metadata["document_id"] for one in titled}
        by_title = [one for one in documents[1:] if one[0].metadata["document_id"] in ids]
        others = [one for one in documents[1:] if one not in by_title]
        return [*documents[:1], *by_title, *others]

    def _supported(
        self, inputs: Inputs, documents: Sequence[list[Document]], config: RunnableConfig | None
    ) -> list[_Supported]:
        """The documents that the answerer quotes for the topic, in the order they were found."""
        supported: list[_Supported] = []
        for passages in documents:
            message = self._answer.invoke({**inputs, "input_documents": passages}, config)
            quoted = as_chunk(message).additional_kwargs.get("citations", ())[:1]
            supported += [_support(passages, one) for one in quoted]
        return supported

    def _nearest(self, topic: str, documents: Sequence[list[Document]]) -> list[_Supported]:
        """The first documents, with the words nearest to the topic."""
        passages = [one[0] for one in documents[:MAX_NEAREST]]
        quoted = ((one, self._nearest_words(topic, one)) for one in passages)
        return [_Supported(one, words) for one, words in quoted if words]

    def _nearest_words(self, topic: str, passage: Document) -> str:
        """The sentence of the passage that is most like the topic; "" where none can be quoted."""
        words = [one.words for one in whole_sentences(passage)]
        if not words:
            return next((line for _, line in first_lines([passage])), "")
        if self._embeddings is None:
            return words[0]
        vector = self._embeddings.embed_query(topic)
        others = self._embeddings.embed_documents(words)
        likeness = [math.fsum(map(mul, vector, other)) for other in others]
        return words[likeness.index(max(likeness))]


def is_document_request(inputs: Inputs) -> bool:
    """Whether `question` asks which documents say or are about something."""
    return document_request(inputs["question"]) is not None


def _support(passages: Sequence[Document], quoted: Citation) -> _Supported:
    return _Supported(passages[quoted["extras"]["n"] - 1], quoted["cited_text"])


def _by_document(found: Sequence[Document]) -> list[list[Document]]:
    """The first passages of each document, in the order in which the documents come first."""
    documents: dict[str, list[Document]] = {}
    for passage in found:
        documents.setdefault(passage.metadata["document_id"], []).append(passage)
    return [passages[:PASSAGES] for passages in documents.values()]


def _listed(supported: Sequence[_Supported]) -> Iterator[str | Quotation]:
    for n, one in enumerate(supported, start=1):
        name = one.passage.metadata.get("title") or one.passage.metadata["location"]
        yield f"**{escape(name)}**"
        yield Quotation(n, one.words)
