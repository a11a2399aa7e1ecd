"""Adapts the events of an agent's graph to the pieces that a chain streams."""

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolCall, ToolMessage
from langchain_core.runnables.utils import AddableDict

from chains.chat_prompts import REASONING
from chains.reasoning import ReasoningFilter, reasoning_of
from domain import Step, StepState
from domain.logs import elapsed_ms
from domain.messages import _
from services.agent.tool_results import SourceNumbers
from services.chat.running_answer import NO_ANSWER, UNREADABLE_CALL, incomplete_reason

Piece = dict[str, Any]

RESULT_CHARS = 4_000
"""The maximum length of a stored tool result, in characters; the model reads all of it."""

_MODEL_LIMIT = "ModelCallLimitMiddleware"


@dataclass
class AgentEventAdapter:
    """Converts the events of one run of an agent.

    The model's text becomes `answer` pieces, and its reasoning `reasoning` pieces. A tool call
    becomes a `step`, then `basis` with the ids of what else its result tells of, if any, another
    `step` with its result, and `source_documents` with the new documents in the order of their
    numbers. `incomplete` is the reason if the run ended early. The
    last piece is `answer_message`, the model's last message.
    """

    numbers: SourceNumbers
    model_calls: int
    tool_calls: int
    question: str = ""
    _step_count: int = 0
    _running_steps: dict[str | None, tuple[Step, float]] = field(default_factory=dict)
    _streamed_documents: int = 0
    _last_message: AIMessage | None = None
    _out_of_model_calls: bool = False
    _reasoning: ReasoningFilter | None = None

    def pieces(self, events: Iterable[Any]) -> Iterator[Piece]:
        """The pieces for a graph's stream in the modes `messages` and `updates`."""
        for mode, event in events:
            if mode == "messages":
                yield from self._answer_pieces(*event)
            else:
                for node, update in event.items():
                    yield from self._update_pieces(node, update or {})
        if reason := self._incomplete():
            yield AddableDict(incomplete=reason)
        if self._last_message is not None:
            yield AddableDict(answer_message=self._last_message)

    def _update_pieces(self, node: str, update: Mapping[str, Any]) -> Iterator[Piece]:
        if node.startswith(_MODEL_LIMIT) and "messages" in update:
            self._out_of_model_calls = True
        for message in update.get("messages", ()):
            if node == "model" and isinstance(message, AIMessage):
                if self._reasoning:
                    yield from _text_pieces(*self._reasoning.close())
                self._reasoning = None
                self._last_message = message
                if message.tool_calls and _has_reasoning(message):
                    yield AddableDict(reasoning="\n\n")
                for call in message.tool_calls:
                    yield AddableDict(step=self._begin(call))
            elif isinstance(message, ToolMessage):
                if basis := _artifact_of(message).get("basis"):
                    yield AddableDict(basis=basis)
                yield AddableDict(step=self._end(message))
                yield from self._new_documents()

    def _answer_pieces(self, message: BaseMessage, metadata: Mapping[str, Any]) -> Iterator[Piece]:
        """The output of the agent's own model, without that of models called by tools."""
        if metadata.get("langgraph_node") != "model" or not isinstance(message, AIMessage):
            return
        if self._reasoning is None:
            texts = (document.page_content for document in self.numbers.documents)
            self._reasoning = ReasoningFilter([self.question, *texts])
        answer, reasoning = self._reasoning.read(str(message.text))
        yield from _text_pieces(answer, reasoning_of(message) + reasoning)

    def _begin(self, call: ToolCall) -> Step:
        self._step_count += 1
        step = Step(self._step_count, call["name"], call["args"])
        self._running_steps[call["id"]] = step, time.perf_counter()
        return step

    def _end(self, message: ToolMessage) -> Step:
        step, start = self._running_steps.pop(message.tool_call_id)
        return replace(
            step,
            state=StepState.FAILED if message.status == "error" else StepState.DONE,
            result=_shorten(str(message.text)),
            sources=tuple(_artifact_of(message).get("numbers", ())),
            milliseconds=elapsed_ms(start),
        )

    def _new_documents(self) -> Iterator[Piece]:
        new = list(self.numbers.documents[self._streamed_documents :])
        self._streamed_documents += len(new)
        if new:
            yield AddableDict(source_documents=new)

    def _incomplete(self) -> str:
        """Why the run ended early, or ""."""
        if self._out_of_model_calls:
            return _out_of_calls(self.model_calls, self._step_count, self.tool_calls)
        if self._last_message is None:
            return ""
        if reason := incomplete_reason(self._last_message.response_metadata):
            return reason
        if REASONING.sub("", str(self._last_message.text)).strip():
            return ""
        return UNREADABLE_CALL if self._last_message.invalid_tool_calls else NO_ANSWER


def _artifact_of(message: ToolMessage) -> Mapping[str, Any]:
    return message.artifact if isinstance(message.artifact, dict) else {}


def _has_reasoning(message: AIMessage) -> bool:
    return bool(reasoning_of(message) or REASONING.search(str(message.text)))


def _text_pieces(answer: str, reasoning: str) -> Iterator[Piece]:
    if reasoning:
        yield AddableDict(reasoning=reasoning)
    if answer:
        yield AddableDict(answer=answer)


def _out_of_calls(model_calls: int, step_count: int, tool_calls: int) -> str:
    setting, limit, what = "FOOTNOTE_AGENT_MODEL_CALLS", model_calls, _("model calls")
    if step_count > tool_calls:
        setting, limit, what = "FOOTNOTE_AGENT_TOOL_CALLS", tool_calls, _("tool calls")
    return _(
        "The agent reached the limit of {limit} {what} ({setting}): ask for less at once, or"
        " raise the limit."
    ).format(limit=limit, what=what, setting=setting)


def _shorten(text: str) -> str:
    return text if len(text) <= RESULT_CHARS else f"{text[: RESULT_CHARS - 1]}…"
