"""Summaries without a model: a document's opening and its most central sentences, quoted."""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from langchain_core.documents import Document
from langchain_core.messages import BaseMessage
from langchain_core.messages.content import Citation
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.utils import AddableDict

from chains.brackets import escape
from chains.built_in_answer import BuiltInAnswerer, Inputs, Quotation, answer_pieces
from chains.central_sentences import CentralSentence, central_sentences
from chains.condense import Condenser
from chains.follow_ups import Idf
from chains.history import History, Said, render_history
from chains.summary_requests import SummaryRequest, summary_request
from language.answer_language import Language

_INTRODUCTION: dict[Language, str] = {
    "english": (
        "This is an extract of “{title}”, not a summary in other words: its opening and the"
        " sentences that are most central to it."
    ),
    "korean": (
        "다음은 ‘{title}’ 문서를 새로 풀어 쓴 요약이 아니라 발췌한 것입니다. 문서의 첫머리와"
        " 가장 중심이 되는 문장들입니다."
    ),
    "japanese": (
        "以下は「{title}」を書き直した要約ではなく、抜粋です。冒頭と、最も中心となる文を引用します。"
    ),
}
_INTRODUCTION_OF_NEAREST: dict[Language, str] = {
    "english": (
        "The nearest document is “{title}”. This is an extract of it, not a summary in other"
        " words: its opening and the sentences that are most central to it."
    ),
    "korean": (
        "가장 가까운 문서는 ‘{title}’입니다. 다음은 새로 풀어 쓴 요약이 아니라 발췌한 것으로,"
        " 문서의 첫머리와 가장 중심이 되는 문장들입니다."
    ),
    "japanese": (
        "最も近い文書は「{title}」です。以下は書き直した要約ではなく、抜粋です。冒頭と、最も中心となる"
        "文を引用します。"
    ),
}
_WHICH: dict[Language, str] = {
    "english": (
        "Which document should be summarized? Write its title or file name, for example:"
        " Summarize “Annual report”."
    ),
    "korean": (
        "어느 문서를 요약할까요? 문서의 제목이나 파일 이름을 적어 주세요."
        " 예: ‘연간 보고서’ 요약해 줘."
    ),
    "japanese": (
        "どの文書を要約しますか？文書の題名かファイル名を書いてください。例：「年次報告書」を要約して。"
    ),
}


class FindsDocuments(Protocol):
    """Finds the document that is meant; each method gives its passages in order, or none."""

    def named(self, name: str) -> list[Document]:
        """That of the document that is called so."""

    def nearest(self, text: str) -> list[Document]:
        """That of the document that is most about the text."""

    def only(self) -> list[Document]:
        """That of the only document that can be meant where nothing is said of it."""

    def known(self, document_id: str) -> list[Document]:
        """That of the document with that id."""


class Summarizer(BuiltInAnswerer):
    """Answers requests for a summary with an extract of the document.

    Takes `question`, `chat_history` and perhaps `standalone_question`, which then says what is to
    be summarized. A question that asks for a summary only of what is called so goes on to
    `otherwise` where nothing is; so does a request for a part ("the steps to ...").
    """

    def __init__(
        self,
        documents: FindsDocuments,
        condense: Condenser,
        otherwise: Runnable[Inputs, Inputs],
        idf: Idf | None = None,
    ) -> None:
        """Read nothing yet."""
        self._documents = documents
        self._condense = condense
        self._otherwise = otherwise
        self._idf = idf

    def stream(
        self, input: Inputs, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[Inputs]:
        """What was looked for, the passages that are quoted, and the extract."""
        request = summary_request(input["question"]) or SummaryRequest("", "english")
        subject = input.get("standalone_question") or request.subject
        passages = self._documents.named(subject) if subject else []
        if not passages and subject and (request.only_if_named or request.asks_for_a_part):
            yield from self._otherwise.stream(_of_the_part(input, request), config, **kwargs)
            return
        if not subject and not (passages := self._pointed_at(input)):
            subject = self._subject_of_conversation(input, config)
        introduction = _INTRODUCTION[request.language]
        if subject and not passages:
            passages = self._documents.nearest(subject)
            introduction = _INTRODUCTION_OF_NEAREST[request.language]
        if passages:
            yield from _extract(introduction, subject, passages, self._idf)
        else:
            yield from answer_pieces([_WHICH[request.language]])

    def _pointed_at(self, inputs: Inputs) -> list[Document]:
        """The only document that can be meant, else the one that was cited last."""
        cited = _cited_last(inputs.get("chat_history") or ())
        return self._documents.only() or (self._documents.known(cited) if cited else [])

    def _subject_of_conversation(self, inputs: Inputs, config: RunnableConfig | None) -> str:
        """The terms that the conversation adds to the request; "" where nothing came before."""
        history = inputs.get("chat_history") or ()
        if not render_history(history):
            return ""
        follow_up = {"question": inputs["question"], "chat_history": history}
        return self._condense.invoke(follow_up, config)


def is_summary_request(inputs: Inputs) -> bool:
    """Whether `question` asks for the summary of a document."""
    return summary_request(inputs["question"]) is not None


def _cited_last(history: History) -> str:
    """The id of the first document that the last answer with citations cites; "" without any."""
    for message in reversed(history):
        if citations := _citations(message):
            return str(citations[0].get("extras", {}).get("document_id", ""))
    return ""


def _citations(entry: Said) -> list[Citation]:
    return entry.additional_kwargs.get("citations", []) if isinstance(entry, BaseMessage) else []


def _of_the_part(inputs: Inputs, request: SummaryRequest) -> Inputs:
    """The question without "summarize", whose words no document would hold."""
    return inputs if request.only_if_named else {**inputs, "question": request.subject}


def _extract(
    introduction: str, subject: str, passages: Sequence[Document], idf: Idf | None
) -> Iterator[Inputs]:
    title = passages[0].metadata.get("title") or ""
    yield AddableDict(searched_questions=[subject or title])
    sentences = central_sentences(passages, idf)
    places = sorted({sentence.place for sentence in sentences})
    yield AddableDict(source_documents=[passages[place] for place in places])
    opening = introduction.format(title=escape(title))
    yield from answer_pieces([opening, *_quoted(sentences, places)])


def _quoted(
    sentences: Sequence[CentralSentence], places: Sequence[int]
) -> Iterator[str | Quotation]:
    """The sentences, each first one of a section below its heading."""
    section = ""
    for sentence in sentences:
        if sentence.section != section:
            section = sentence.section
            yield f"**{escape(section.strip())}**"
        yield Quotation(places.index(sentence.place) + 1, sentence.words)
