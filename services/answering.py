"""One question being answered: what is known of it at every moment, and how it ends."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from chains.citations import check_answer, plain_text
from chains.written_answer import WrittenAnswer
from domain import (
    LENGTH_LIMIT,
    REPETITION,
    TIME_LIMIT,
    FoundPassage,
    Source,
    Step,
    StepState,
    Turn,
    TurnState,
)
from errors import AppError
from services.events import Condensing, Event, Found, Searching, Stepped, Written
from services.explain import explain
from services.storable import storable, storable_json

if TYPE_CHECKING:  # slow, and opening the page needs neither
    from langchain_core.documents import Document
    from langchain_core.messages.ai import UsageMetadata
    from langchain_core.messages.content import Citation
    from langchain_core.runnables import Runnable

    from chains.history import History
    from chains.markers import Piece

CUT_SHORT = (
    "The model stopped at the longest answer it may give: raise FOOTNOTE_CHAT_MAX_TOKENS or the "
    "server's own limit, or ask for less at once."
)
OUT_OF_TIME = (
    "The answer took longer than FOOTNOTE_CHAT_ANSWER_TIMEOUT_S allows: raise it, ask for less at "
    "once, or choose a faster model."
)
REPEATED_ITSELF = (
    "The model began to repeat the same words without end and was stopped: ask again, word the "
    "question differently, or set another model in FOOTNOTE_CHAT_MODEL."
)
_CUT_SHORT = {LENGTH_LIMIT: CUT_SHORT, TIME_LIMIT: OUT_OF_TIME, REPETITION: REPEATED_ITSELF}


@dataclass
class Answering:
    """One question being answered; `turn` is true at every moment.

    `text_of` gives the stored text of a document that quotes are looked up in, None where it is
    gone.
    """

    turn: Turn
    text_of: Callable[[str], str | None]
    written: WrittenAnswer | None = None
    started: float = field(default_factory=time.monotonic)

    def run(
        self, chain: "Runnable[dict[str, Any], dict[str, Any]]", history: "History"
    ) -> Iterator[Event]:
        """Answer with the chain, telling what happens; `end` or `fail` where it does not end.

        The chain streams the pieces of `ConversationalRetrievalChain`, and before them it may
        stream `model`, what the answer is signed with. An agent also streams each
        `step`, as it begins and as it is done, `source_documents` as they come, and `incomplete`,
        the reason, where it had to end before it was done.

        A standalone question that the turn was given is searched as it is.
        """
        from langchain_core.callbacks import UsageMetadataCallbackHandler  # slow, as above
        from langchain_core.runnables.config import ensure_config, merge_configs

        counted = UsageMetadataCallbackHandler()
        # A tool of an agent asks too: whoever counts for the agent counts this as well.
        watched = merge_configs(ensure_config(), {"callbacks": [counted]})
        pieces = chain.stream(self._inputs(history), watched)
        try:
            yield from self._follow(pieces)
        finally:
            self._know(usage=_sums(counted.usage_metadata.values()))

    def _follow(self, pieces: Iterator[dict[str, Any]]) -> Iterator[Event]:
        from chains.rewrite_guard import as_one_question

        state = TurnState.COMPLETE
        for piece in pieces:
            if not piece:
                yield Condensing()
            if "step" in piece:
                self._take_step(piece["step"])
                yield Stepped(self.turn.steps[piece["step"].n - 1])
            if "model" in piece:
                self._know(model=piece["model"])
            if "searched_questions" in piece:
                searched = as_one_question(piece["searched_questions"])
                self._know(standalone_question=storable(searched))
                yield Searching(self.turn.standalone_question)
            if "source_documents" in piece:
                self._know(sources=self._with_numbered(piece["source_documents"]))
                self._time("found")
                yield Found(self.turn.sources)
            if answer := storable(piece.get("answer", "")):
                self._time("first_token")
                yield from _written(self._read(answer, piece.get("answer_citations")))
            if why := piece.get("incomplete") or _cut_short(piece):
                state = TurnState.INCOMPLETE
                self._know(error=why)
        if self.written:
            yield from _written(self.written.close())
        self.end(state)

    def _read(self, answer: str, citations: "Sequence[Citation] | None") -> str:
        """Keep more of the answer, and return what is to be shown of it."""
        if self.written is None:  # what the answerer was shown is known by now
            self.written = WrittenAnswer(self.turn.sources)
        return self.written.read(answer, citations)

    def _inputs(self, history: "History") -> dict[str, Any]:
        given = self.turn.standalone_question if self.turn.standalone_given else ""
        asked = {"question": self.turn.question, "chat_history": history}
        return asked | ({"standalone_question": given} if given else {})

    def _with_numbered(self, documents: list["Document"]) -> tuple[Source, ...]:
        """The sources so far and these, numbered on."""
        known, question = self.turn.sources, self.turn.standalone_question or self.turn.question
        numbered = enumerate(documents, start=len(known) + 1)
        return (*known, *(numbered_source(n, question, found) for n, found in numbered))

    def _take_step(self, step: Step) -> None:
        """Keep the step. Where it has just begun, that ends what was written before it."""
        steps, step = self.turn.steps, _plain_step(step)
        if step.state is not StepState.RUNNING:
            said = steps[step.n - 1].said
            self._know(steps=(*steps[: step.n - 1], replace(step, said=said), *steps[step.n :]))
            return
        self._know(steps=(*steps, replace(step, said=plain_text(self._pieces()))))
        self.written = None

    def _pieces(self) -> "Sequence[Piece]":
        """All that is written, to its last character."""
        if self.written is None:
            return ()
        self.written.close()
        return self.written.pieces

    def fail(self, error: BaseException) -> None:
        """Keep what was written, and why no more came."""
        told = str(error) if isinstance(error, AppError) else "an unexpected error"
        stopped = not isinstance(error, Exception)  # Ctrl-C, or the page was stopped
        written = TurnState.INCOMPLETE if self.written else TurnState.FAILED
        self._know(error="" if stopped else told)
        self.end(TurnState.STOPPED if stopped else written)

    def end(self, state: TurnState) -> None:
        """Check what was written and settle the turn."""
        checked = check_answer(self._pieces(), self.turn.sources, self.text_of)
        self._time("total")
        self._know(
            state=state,
            answer=checked.text,
            citations=checked.citations,
            unsupported_sentences=checked.unsupported_sentences,
        )

    def _know(self, **changes: Any) -> None:
        self.turn = replace(self.turn, **changes)

    def _time(self, moment: str) -> None:
        """Know how long the moment took to come; of one that comes again, the first time."""
        if moment in self.turn.timings_ms:
            return
        elapsed_ms = round(1000 * (time.monotonic() - self.started), 1)
        self._know(timings_ms={**self.turn.timings_ms, moment: elapsed_ms})


def _plain_step(step: Step) -> Step:
    """With text and JSON that can be stored: a model and the tools of others give any."""
    tool, result = storable(step.tool), storable(step.result)
    return replace(step, tool=tool, result=result, arguments=storable_json(dict(step.arguments)))


def cut_short_reason(metadata: Mapping[str, Any]) -> str:
    """Why a model's message with that `response_metadata` is not complete; "" where it is."""
    return _CUT_SHORT.get(metadata.get("finish_reason", ""), "")


def _cut_short(piece: Mapping[str, Any]) -> str:
    message = piece.get("answer_message")
    return "" if message is None else cut_short_reason(message.response_metadata)


def _written(text: str) -> Iterator[Event]:
    if text:
        yield Written(text)


def numbered_source(n: int, question: str, document: "Document") -> Source:
    """What was found for the question, as the source of that number."""
    known = document.metadata
    return Source(
        n=n,
        passage_id=document.id or "",
        document_id=known["document_id"],
        title=known["title"],
        location=known["location"],
        text=document.page_content,
        version=known["version"],
        page=known["page"],
        heading_path=tuple(known["heading_path"]),
        score=known.get("score"),
        start=known["start"],
        why=explain(question, document) if "parts" in known else None,
        hits=tuple(FoundPassage(**hit) for hit in known.get("window", ())),
    )


def _sums(usages: "Iterable[UsageMetadata]") -> dict[str, int]:
    """Tokens in and out of all that was asked for one answer, condensing included."""
    counted = [(usage["input_tokens"], usage["output_tokens"]) for usage in usages]
    if not counted:
        return {}
    tokens_in, tokens_out = map(sum, zip(*counted, strict=True))
    return {"input_tokens": tokens_in, "output_tokens": tokens_out}
