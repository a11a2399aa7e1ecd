"""What a graph streams, told in the pieces that a chain streams."""

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolCall, ToolMessage
from langchain_core.runnables.utils import AddableDict

from agent.numbering import SourceNumbers
from domain import Step, StepState
from services.answering import cut_short_reason

Piece = dict[str, Any]

RESULT_CHARS = 4_000
"""Of what a tool gave, characters kept with its step; the model reads all of it."""

NO_ANSWER = "The model ended without an answer: ask again, or in other words."
UNREADABLE_CALL = (
    "The model called a tool in a form that can't be read: ask again, or choose a model in "
    "FOOTNOTE_CHAT_MODEL that calls tools."
)
_MODEL_LIMIT = "ModelCallLimitMiddleware"


@dataclass
class Telling:
    """Follows one run of an agent.

    Text that the model writes is an `answer` piece; a `step` comes when a tool is called and
    again with what came back, then `source_documents` with the new ones in the order of their
    numbers; where it had to end early `incomplete` says why; the model's last message,
    `answer_message`, ends it.
    """

    numbers: SourceNumbers
    model_calls: int
    tool_calls: int
    _begun: int = 0
    _running: dict[str | None, tuple[Step, float]] = field(default_factory=dict)
    _told_documents: int = 0
    _last: AIMessage | None = None
    _out_of_model_calls: bool = False

    def pieces(self, events: Iterable[Any]) -> Iterator[Piece]:
        """The pieces of what the graph streams in the modes `messages` and `updates`."""
        for mode, event in events:
            if mode == "messages":
                yield from _written(*event)
            else:
                for node, update in event.items():
                    yield from self._updated(node, update or {})
        if why := self._incomplete():
            yield AddableDict(incomplete=why)
        if self._last is not None:
            yield AddableDict(answer_message=self._last)

    def _updated(self, node: str, update: Mapping[str, Any]) -> Iterator[Piece]:
        if node.startswith(_MODEL_LIMIT) and "messages" in update:
            self._out_of_model_calls = True
        for message in update.get("messages", ()):
            if node == "model" and isinstance(message, AIMessage):
                self._last = message
                for call in message.tool_calls:
                    yield AddableDict(step=self._begin(call))
            elif isinstance(message, ToolMessage):
                yield AddableDict(step=self._end(message))
                yield from self._new_documents()

    def _begin(self, call: ToolCall) -> Step:
        self._begun += 1
        step = Step(self._begun, call["name"], call["args"])
        self._running[call["id"]] = step, time.monotonic()
        return step

    def _end(self, message: ToolMessage) -> Step:
        step, began = self._running.pop(message.tool_call_id)
        beside = message.artifact if isinstance(message.artifact, dict) else {}
        return replace(
            step,
            state=StepState.FAILED if message.status == "error" else StepState.DONE,
            result=_shortened(str(message.text)),
            sources=tuple(beside.get("numbers", ())),
            milliseconds=round(1000 * (time.monotonic() - began), 1),
        )

    def _new_documents(self) -> Iterator[Piece]:
        new = list(self.numbers.documents[self._told_documents :])
        self._told_documents += len(new)
        if new:
            yield AddableDict(source_documents=new)

    def _incomplete(self) -> str:
        """Why it ended early, "" where it did not."""
        if self._out_of_model_calls:
            return _out_of_calls(self.model_calls, self._begun, self.tool_calls)
        if self._last is None:
            return ""
        if why := cut_short_reason(self._last.response_metadata):
            return why
        if self._last.text:
            return ""
        return UNREADABLE_CALL if self._last.invalid_tool_calls else NO_ANSWER


def _written(message: BaseMessage, metadata: Mapping[str, Any]) -> Iterator[Piece]:
    """The text of the agent's own model: tools may ask models too."""
    is_own = metadata.get("langgraph_node") == "model" and isinstance(message, AIMessage)
    if is_own and message.text:
        yield AddableDict(answer=str(message.text))


def _out_of_calls(model_calls: int, begun: int, tool_calls: int) -> str:
    setting, most, what = "FOOTNOTE_AGENT_MODEL_CALLS", model_calls, "questions to the model"
    if begun > tool_calls:
        setting, most, what = "FOOTNOTE_AGENT_TOOL_CALLS", tool_calls, "calls of tools"
    return (
        f"The agent was not done after {most} {what}, the most that {setting} allows: "
        "ask for less at once, or raise it."
    )


def _shortened(text: str) -> str:
    return text if len(text) <= RESULT_CHARS else f"{text[: RESULT_CHARS - 1]}…"
