"""What OpenAI's clients are told of an answer, as models of the API's description."""

from collections.abc import Iterator
from typing import Literal

from pydantic import BaseModel, Field

from api.openai.talk import SOURCES
from api.schemas.answers import Citation, Source, Told
from api.schemas.turns import Step
from domain import Citation as Cited
from domain import CitationState, Turn, TurnState
from services.answer_text import escape, marker_spans

_WEB = ("http://", "https://")
_LOST = "⚠"
"""Before what a citation names where its quote was not found."""

FinishReason = Literal["stop", "length"]


class UrlCitation(BaseModel):
    """Where in the content the web page is cited."""

    start_index: int = Field(description="Where `[n]` begins, in characters", examples=[8])
    end_index: int = Field(description="Where it ends, itself not included", examples=[11])
    url: str = Field(
        description="Address of the document", examples=["https://wiki.example.com/leave"]
    )
    title: str = Field(description="Title of the document", examples=["Leave policy"])


class Annotation(BaseModel):
    """A citation as clients know it that show web pages."""

    type: Literal["url_citation"] = Field("url_citation", description="Kind of the annotation")
    url_citation: UrlCitation = Field(description="The citation")


class Evidence(Told):
    """What is Footnote's own in an answer: its evidence, structured."""

    citations: list[Citation] = Field(
        description="Of each number one, or one for each `[n]`, in the order of the answer, each"
        " checked"
    )
    sources: list[Source] = Field(description="What was put before the answerer, by number")
    standalone_question: str = Field(
        description="What was searched for: the question, made to be understood without its"
        " history",
        examples=["How many days of leave do I get?"],
    )
    steps: list[Step] = Field(description="The agent's; none of the model `footnote`")
    unsupported_sentences: int = Field(
        description="How many sentences claim something without a verified citation", examples=[0]
    )
    model: str = Field(
        description="What wrote the answer", examples=["built-in extractive answerer"]
    )
    error: str = Field(description='Why the answer is not complete, "" where it is', examples=[""])


class AnswerMessage(BaseModel):
    """An answer."""

    role: Literal["assistant"] = Field("assistant", description="Who says it")
    content: str = Field(
        description="The answer in Markdown with `[n]` after each statement, and a list of what it"
        " cites; a document's own brackets are escaped: `\\[42\\]`",
        examples=['25 days [1].\n\nSources:\n[1] Leave: "New employees get 25 days." leave.md'],
    )
    refusal: None = Field(None, description="Always null")
    annotations: list[Annotation] = Field(
        description="Citations of web pages in which the quoted words were found"
    )
    footnote: Evidence = Field(description="What the answer rests on")


class Choice(BaseModel):
    """The one answer."""

    index: Literal[0] = Field(0, description="Its place: there is one")
    message: AnswerMessage = Field(description="The answer")
    logprobs: None = Field(None, description="Always null")
    finish_reason: FinishReason = Field(
        description="`stop`: it came to its own end; `length`: it is not complete, and"
        " `footnote.error` says why"
    )


class Usage(BaseModel):
    """Tokens of all that was asked for the answer; 0 where the model does not tell."""

    prompt_tokens: int = Field(description="Tokens that the model read", examples=[812])
    completion_tokens: int = Field(description="Tokens that the model wrote", examples=[96])
    total_tokens: int = Field(description="Both together", examples=[908])


class ChatCompletion(BaseModel):
    """An answer to a chat."""

    id: str = Field(
        description="Id of the answer; nothing is kept under it",
        examples=["chatcmpl-5b1f0f3e2d9c4b0f8a7e6d5c4b3a2910"],
    )
    object: Literal["chat.completion"] = Field("chat.completion", description="Kind of the object")
    created: int = Field(
        description="When it was asked, in seconds since 1970", examples=[1795312800]
    )
    model: str = Field(description="The model that was asked", examples=["footnote"])
    choices: list[Choice] = Field(description="One answer")
    usage: Usage = Field(description="Tokens of the answer")


def completion_of(turn: Turn, id_: str, model: str) -> ChatCompletion:
    """The whole answer at once."""
    message = AnswerMessage(
        content=turn.answer + sources_of(turn),
        annotations=annotations_of(turn, turn.answer),
        footnote=Evidence.model_validate(turn),
    )
    return ChatCompletion(
        id=id_,
        created=int(turn.created_at.timestamp()),
        model=model,
        choices=[Choice(message=message, finish_reason=finish_reason_of(turn))],
        usage=usage_of(turn),
    )


def sources_of(turn: Turn) -> str:
    """What follows the answer: the cited sources, a line for each quote; "" where there are none.

    The form is the same in every language but for its first word, by which the list is known.
    """
    lines = [_line(one) for one in sorted(turn.citations, key=lambda one: one.n)]
    return "\n".join([f"\n\n{SOURCES}", *dict.fromkeys(lines)]) if lines else ""


def annotations_of(turn: Turn, content: str) -> list[Annotation]:
    """Where the content cites web pages; what lies in files has no address for a browser.

    Args:
        turn: The whole turn.
        content: What the client was sent; its end is the turn's answer.
    """
    begin = len(content) - len(turn.answer)
    return [
        Annotation(
            url_citation=UrlCitation(
                start_index=begin + start,
                end_index=begin + end,
                url=cited.location,
                title=cited.title,
            )
        )
        for start, end, cited in _marks(turn)
        if cited.state is CitationState.VERIFIED and cited.location.startswith(_WEB)
    ]


def finish_reason_of(turn: Turn) -> FinishReason:
    """Whether the answer came to its own end."""
    return "stop" if turn.state is TurnState.COMPLETE else "length"


def usage_of(turn: Turn) -> Usage:
    """The tokens that the model told of."""
    read, wrote = (turn.usage.get(name, 0) for name in ("input_tokens", "output_tokens"))
    return Usage(prompt_tokens=read, completion_tokens=wrote, total_tokens=read + wrote)


def _line(cited: Cited) -> str:
    if cited.state is CitationState.NO_SUCH_SOURCE:
        return f"[{cited.n}] {_LOST}"
    sign = "" if cited.state is CitationState.VERIFIED else f"{_LOST} "
    page = f", page {cited.page}" if cited.page else ""
    quote = f': "{escape(cited.quote)}"' if cited.quote else ""
    title, location = escape(cited.title), cited.location
    where = location if location.startswith(_WEB) else escape(location)
    return " ".join(f"[{cited.n}] {sign}{title}{page}{quote} {where}".split())


def _marks(turn: Turn) -> Iterator[tuple[int, int, Cited]]:
    """Each `[n]` of the answer with its span and what it cites.

    Of a number there is one citation for all its markers, or one for each of them in their order.
    """
    by_number: dict[int, list[Cited]] = {}
    for cited in turn.citations:
        by_number.setdefault(cited.n, []).append(cited)
    for n, start, end in marker_spans(turn.answer):
        if left := by_number.get(n):
            yield start, end, left.pop(0) if len(left) > 1 else left[0]
