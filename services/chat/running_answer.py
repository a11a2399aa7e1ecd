"""Converts an answer that is being written to events and a turn, and logs it."""

import logging
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

from domain import (
    CONTENT_FILTER,
    LENGTH_LIMIT,
    NO_TEXT,
    ONLY_TOOL_CALLS,
    REPETITION,
    TIME_LIMIT,
    CitationState,
    FoundPassage,
    RetrievedPassage,
    Step,
    StepState,
    Turn,
    TurnState,
)
from domain.errors import AppError, ModelOptionError, RequestRejectedError
from domain.language.sanitization import sanitize
from domain.language.surrogate_pairs import PieceSanitizer
from domain.logs import StageTimes, elapsed_ms, get_logger, new_id, with_log_context
from domain.messages import _
from domain.public_messages import message_for_everyone
from services.chat.answer_draft import AnswerDraft, JsonDraft, require_format
from services.chat.chain_builder import AnswerChain
from services.chat.model_options import NO_OPTIONS, ModelOptions, whole_tool_calls
from services.events import (
    Condensing,
    Event,
    PassagesRetrieved,
    ReasoningDelta,
    Searching,
    StepUpdated,
)
from services.search.search_service import explain
from services.texts import sanitize_json

if TYPE_CHECKING:  # slow, and not needed to open the page
    from langchain_core.documents import Document
    from langchain_core.messages import ToolCallChunk
    from langchain_core.messages.ai import UsageMetadata
    from langchain_core.messages.content import Citation

    from chains.history import History

TOO_LONG = _(
    "The answer reached the length limit: raise FOOTNOTE_CHAT_MAX_TOKENS or the server's own limit,"
    " or ask for less at once."
)
OUT_OF_TIME = _(
    "The answer took longer than FOOTNOTE_CHAT_ANSWER_TIMEOUT_S allows: raise it, ask for less at"
    " once, or choose a faster model."
)
REPEATED_ITSELF = _(
    "The model kept repeating the same words and was stopped: ask again, reword the question,"
    " or set another model in FOOTNOTE_CHAT_MODEL."
)
FILTERED = _(
    "The content filter of the model's server stopped the answer: reword the question, or set"
    " another model in FOOTNOTE_CHAT_MODEL."
)
BLANK = _(
    "The model wrote no text: ask again, reword the question, or set another model in"
    " FOOTNOTE_CHAT_MODEL."
)
CALLED_TOOLS = _(
    "The model called a tool instead of writing an answer, although no tool was offered: ask again,"
    " or set another model in FOOTNOTE_CHAT_MODEL."
)
NO_ANSWER = _("The model ended without an answer: ask again or reword the question.")
UNREADABLE_CALL = _(
    "The model's tool call could not be parsed: ask again, or set a model that supports tools in"
    " FOOTNOTE_CHAT_MODEL."
)
_INCOMPLETE = {
    LENGTH_LIMIT: TOO_LONG,
    TIME_LIMIT: OUT_OF_TIME,
    REPETITION: REPEATED_ITSELF,
    CONTENT_FILTER: FILTERED,
    NO_TEXT: BLANK,
    ONLY_TOOL_CALLS: CALLED_TOOLS,
}
REASONING_CHARS = 50_000
"""The maximum length of the stored reasoning of an answer, in characters; the rest is dropped."""
_log = get_logger("questions")


class AnswerLog:
    """Measures the stages of one question; text of people and documents is logged only at debug.

    The stages are prepare (opening the index, choosing the model), condense (spelling included),
    retrieve (reranking included), tool (of an agent), answer, and verify (of citations).
    """

    def __init__(self, turn: Turn) -> None:
        self.question_id = turn.id or new_id()
        """The id of the stored turn; a new one if the turn is not stored."""
        self._times = StageTimes("prepare")

    def enter(self, stage: str) -> None:
        """End the current stage and start another."""
        self._times.enter(stage)

    def end(self, turn: Turn) -> None:
        """Log the finished turn."""
        self.enter("")
        states = [citation.state for citation in turn.citations]
        fields: dict[str, Any] = {
            "conversation_id": turn.conversation_id or None,
            "model": turn.model,
            "mode": turn.search.mode,
            **self._times.fields(),
            "first_token_ms": turn.timings_ms.get("first_token"),
            **turn.usage,
            "passages": len(turn.sources),
            "best_score": max((_score(one) for one in turn.sources), default=None),
            "citations": len(states),
            "verified": states.count(CitationState.VERIFIED),
            "unsupported": turn.unsupported_sentences,
            "steps": len(turn.steps),
        }
        _log.info(f"question {turn.state.value}", question_id=self.question_id, **fields)
        if _log.isEnabledFor(logging.DEBUG):
            self._log_evidence(turn)

    def _log_evidence(self, turn: Turn) -> None:
        texts = {"question": turn.question, "searched": turn.standalone_question}
        self._debug("question text", **texts, answer=turn.answer, error=str(turn.error))
        for one in turn.sources:
            ranks = {part.ranker: part.rank for part in one.why.parts} if one.why else None
            where = {"document": one.name, "heading": " > ".join(one.heading_path)}
            self._debug("passage retrieved", n=one.n, **where, score=_score(one), ranks=ranks)
        for cited in turn.citations:
            self._debug("citation checked", n=cited.n, state=cited.state, quote=cited.quote)

    def _debug(self, event: str, **fields: Any) -> None:
        _log.debug(event, question_id=self.question_id, **fields)


def _score(passage: RetrievedPassage) -> float:
    return round(passage.score or 0, 3)


@dataclass
class RunningAnswer:
    """The answer to one question while it is being written; `turn` is always up to date.

    `text_of` returns the stored text of a document, in which quotes are searched, or None if the
    document was removed.
    """

    turn: Turn
    text_of: Callable[[str], str | None]
    options: ModelOptions = NO_OPTIONS
    tool_calls: "tuple[ToolCallChunk, ...]" = ()
    """The model's calls of the tools in the options; unknown until the answer ends."""
    draft: AnswerDraft | None = None
    started: float = field(default_factory=time.perf_counter)

    def __post_init__(self) -> None:
        """Start measuring the stages."""
        self._log = AnswerLog(self.turn)
        self._reasoning, self._answer = PieceSanitizer(), PieceSanitizer()

    def run(self, chain: AnswerChain, history: "History") -> Iterator[Event]:
        """Answer with the chain and yield events; call `end` or `fail` if it is interrupted.

        The chain streams the pieces of `ConversationalRetrievalChain`. An agent also streams each
        `step` when it begins and ends, `source_documents` as it retrieves them, and `incomplete`
        with the reason if it had to stop early. `basis` has ids that `Turn.basis` gets.

        A standalone question that the turn already has is searched unchanged.
        """
        return with_log_context(self._run(chain, history), question_id=self._log.question_id)

    def _run(self, chain: AnswerChain, history: "History") -> Generator[Event, None, None]:
        from langchain_core.callbacks import UsageMetadataCallbackHandler  # slow, as above
        from langchain_core.runnables.config import ensure_config, merge_configs

        from models.answer_limits import within_time

        self._update(model=chain.label)
        usage = UsageMetadataCallbackHandler()
        # If an agent's tool is the caller, the agent's own handlers count this answer too.
        config = merge_configs(ensure_config(), {"callbacks": [usage]})
        self._log.enter("answer" if self.turn.search.by_agent else "condense")
        pieces = chain.runnable.stream(self._inputs(history), config)
        try:
            # A chain's stream is a generator, although its return type does not say so.
            work = within_time(cast("Generator[dict[str, Any]]", pieces), chain.seconds)
            state = yield from self._follow(work)
        except RequestRejectedError as error:
            if option := self.options.refused_by(str(error)):
                raise ModelOptionError(str(error), option) from error
            raise
        finally:
            self._update(usage=_sums(usage.usage_metadata.values()))
        self.end(state)
        if self.options.response_format and state is TurnState.COMPLETE and not self.tool_calls:
            require_format(self.turn.answer, self.options.response_format)

    def _follow(self, pieces: Iterator[dict[str, Any]]) -> Generator[Event, None, TurnState]:
        from chains.condensing.condense import as_one_question

        state = TurnState.COMPLETE
        for piece in pieces:
            if not piece:
                yield Condensing()
            if "step" in piece:
                yield from self._end_texts()
                self._take_step(piece["step"])
                yield StepUpdated(self.turn.steps[piece["step"].n - 1])
            if "searched_questions" in piece:
                searched = as_one_question(piece["searched_questions"])
                self._update(standalone_question=sanitize(searched))
                self._log.enter("retrieve")
                yield Searching(self.turn.standalone_question)
            self.add_basis(piece.get("basis", ()))
            if (passages := self._passages_after(piece)) is not None:
                self._update(sources=passages)
                self._record_time("found")
                self._log.enter("answer")
                yield PassagesRetrieved(self.turn.sources)
            yield from self._reason(self._reasoning.read(piece.get("reasoning", "")))
            answer = self._answer.read(piece.get("answer", ""))
            yield from self._write(answer, piece.get("answer_citations"))
            if reason := piece.get("incomplete") or self._read_message(piece):
                state = TurnState.INCOMPLETE
                self._update(error=reason)
        yield from self._end_texts()
        self._log.enter("verify")
        if self.draft:
            yield from self.draft.close()
        return state

    def _write(self, answer: str, citations: "Sequence[Citation] | None") -> Iterator[Event]:
        """Add to the answer, if there is any text."""
        if not answer:
            return
        self._record_time("first_token")
        if self.draft is None:  # the answerer's passages are known by now
            draft = JsonDraft if self.options.response_format else AnswerDraft
            self.draft = draft(self.turn.sources, self.text_of)
        yield from self.draft.write(answer, citations)

    def _reason(self, text: str) -> Iterator[Event]:
        """Add to the reasoning, if there is any text, up to its maximum length.

        The event comes even if the text is not stored, because whoever reads the events can stop
        only at one.
        """
        if not text:
            return
        if stored := text[: REASONING_CHARS - len(self.turn.reasoning)]:
            self._update(reasoning=self.turn.reasoning + stored)
        yield ReasoningDelta(text)

    def _end_texts(self) -> Iterator[Event]:
        """Add the ends of the reasoning and the answer that were held back."""
        yield from self._reason(self._reasoning.close())
        yield from self._write(self._answer.close(), None)

    def _inputs(self, history: "History") -> dict[str, Any]:
        inputs: dict[str, Any] = {"question": self.turn.question, "chat_history": history}
        if self.options.tool_messages:
            inputs["tool_messages"] = list(self.options.tool_messages)
        if self.turn.standalone_given and self.turn.standalone_question:
            inputs["standalone_question"] = self.turn.standalone_question
        return inputs

    def _read_message(self, piece: Mapping[str, Any]) -> str:
        """Take the tool calls of the message in the piece; return why it is incomplete, or ""."""
        message = piece.get("answer_message")
        if message is None:
            return ""
        if self.options.tools:
            self.tool_calls = whole_tool_calls(message)
        return "" if self.tool_calls else incomplete_reason(message.response_metadata)

    def _passages_after(self, piece: Mapping[str, Any]) -> tuple[RetrievedPassage, ...] | None:
        """The passages if the piece adds some, with the next numbers, or drops the last ones."""
        passages, question = self.turn.sources, self.turn.standalone_question or self.turn.question
        if "document_count" in piece:
            return passages[: piece["document_count"]]
        if "source_documents" not in piece:
            return None
        documents: list[Document] = piece["source_documents"]
        numbered = enumerate(documents, start=len(passages) + 1)
        return (*passages, *(retrieved_passage(n, question, one) for n, one in numbered))

    def add_basis(self, ids: Iterable[str]) -> None:
        """Record documents and sources of which the answer may tell; see `Turn.basis`."""
        if new := set(ids).difference(self.turn.basis):
            self._update(basis=(*self.turn.basis, *sorted(new)))

    def _take_step(self, step: Step) -> None:
        """Add or update a step; a new step ends the text before it, which becomes its `said`."""
        steps, step = self.turn.steps, _plain_step(step)
        self._log.enter("tool" if step.state is StepState.RUNNING else "answer")
        if step.state is not StepState.RUNNING:
            step = replace(step, said=steps[step.n - 1].said)
            self._update(steps=(*steps[: step.n - 1], step, *steps[step.n :]))
            return
        said = self.draft.plain_text() if self.draft else ""
        self._update(steps=(*steps, replace(step, said=said)))
        self.draft = None

    def fail(self, error: BaseException) -> None:
        """Record why the answer ended early, and finish the turn."""
        reason = str(_("an unexpected error"))
        if isinstance(error, AppError):
            reason = message_for_everyone(error)
        is_stopped = not isinstance(error, Exception)  # Ctrl-C, or the page was stopped
        failure = TurnState.INCOMPLETE if self.draft else TurnState.FAILED
        self._update(error="" if is_stopped else reason)
        self.end(TurnState.STOPPED if is_stopped else failure)

    def end(self, state: TurnState) -> None:
        """Check the citations and finish the turn."""
        self._log.enter("verify")
        if self.draft:
            checked = self.draft.check()
            self._update(
                answer=checked.text,
                citations=checked.citations,
                unsupported_sentences=checked.unsupported_sentences,
            )
        self._record_time("total")
        self._update(state=state, basis=tuple(sorted(self.turn.used)))
        self._log.end(self.turn)

    def _update(self, **changes: Any) -> None:
        self.turn = replace(self.turn, **changes)

    def _record_time(self, event: str) -> None:
        """Record the milliseconds until the first occurrence of an event."""
        if event in self.turn.timings_ms:
            return
        self._update(timings_ms={**self.turn.timings_ms, event: elapsed_ms(self.started)})


def _plain_step(step: Step) -> Step:
    """A copy of the step that is safe to store: models and external tools return arbitrary text."""
    tool, result = sanitize(step.tool), sanitize(step.result)
    return replace(step, tool=tool, result=result, arguments=sanitize_json(dict(step.arguments)))


def incomplete_reason(metadata: Mapping[str, Any]) -> str:
    """Why a message with this `response_metadata` is incomplete, or "" if it is complete."""
    return _INCOMPLETE.get(metadata.get("finish_reason", ""), "")


def retrieved_passage(n: int, question: str, document: "Document") -> RetrievedPassage:
    """The document as the retrieved passage with this number, explained for the question."""
    metadata = document.metadata
    return RetrievedPassage(
        n=n,
        passage_id=document.id or "",
        document_id=metadata["document_id"],
        title=metadata["title"],
        location=metadata["location"],
        text=document.page_content,
        version=metadata["version"],
        page=metadata["page"],
        heading_path=tuple(metadata["heading_path"]),
        score=metadata.get("score"),
        start=metadata["start"],
        why=explain(question, document) if "parts" in metadata else None,
        hits=tuple(FoundPassage(**hit) for hit in metadata.get("window", ())),
        format=metadata["format"],
    )


def _sums(usages: "Iterable[UsageMetadata]") -> dict[str, int]:
    """Input and output tokens of all model calls for one answer, condensing included."""
    token_counts = [(usage["input_tokens"], usage["output_tokens"]) for usage in usages]
    if not token_counts:
        return {}
    tokens_in, tokens_out = map(sum, zip(*token_counts, strict=True))
    return {"input_tokens": tokens_in, "output_tokens": tokens_out}
