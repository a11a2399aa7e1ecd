"""Reads the reply of a chat model up to the end of its turn, and how it ended."""

import re
from collections.abc import Iterable
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage

from chains.reasoning import REASONING_KEY, ReasoningFilter, reasoning_of
from domain import CUT_SHORT_REASONS, NO_TEXT, ONLY_TOOL_CALLS

_MARKERS = (
    "<|im_end|>", "<|im_start|>", "<|endoftext|>", "<|eot_id|>", "<|end|>", "<|user|>",
    "<|assistant|>", "<|system|>", "<|start_header_id|>", "<|end_header_id|>", "<|begin_of_text|>",
    "<start_of_turn>", "<end_of_turn>", "<bos>", "<eos>", "</s>",
    "[INST]", "[/INST]", "<<SYS>>", "<</SYS>>",
)  # fmt: skip
_LONGEST = max(map(len, _MARKERS))


class TurnEnd:
    """Passes on a streamed answer up to the first marker of a chat template.

    A server that applies a wrong template or none returns its markers as text, followed by a
    dialogue that the model invents. Markers before the first word are dropped. A marker that the
    passages or the question contain is text, because a document may be about templates.
    """

    def __init__(self, quotable_texts: Iterable[str]) -> None:
        """`quotable_texts` are the passages and the question, which may contain markers.

        `reached` becomes True at the end of the turn, and `has_text` once the answer has a word.
        """
        texts = list(quotable_texts)
        markers = [one for one in _MARKERS if not any(one in text for text in texts)]
        self._marker = re.compile("|".join(map(re.escape, markers)) or r"(?!)")
        self._beginnings = {one[:length] for one in markers for length in range(1, len(one))}
        self._held = ""
        self.has_text = False
        self.reached = False

    def read(self, piece: str) -> str:
        """The part of the answer that can no longer change; "" once `reached` is True."""
        if self.reached:
            return ""
        self._held += piece
        text = self._before_marker()
        if not self.reached:
            pending = self._possible_marker()
            certain = len(self._held) - pending
            text, self._held = self._held[:certain], self._held[certain:]
        self.has_text = self.has_text or bool(text.strip())
        return text

    def close(self) -> str:
        """The text that was held back because it could have become a marker."""
        pending, self._held = "" if self.reached else self._held, ""
        self.has_text = self.has_text or bool(pending.strip())
        return pending

    def _before_marker(self) -> str:
        """The text before a marker that ends the answer; markers at its beginning are dropped."""
        while match := self._marker.search(self._held):
            before = self._held[: match.start()]
            if self.has_text or before.strip():
                self.reached = True
                self._held = ""
                return before.rstrip()
            self._held = self._held[match.end() :]
        return ""

    def _possible_marker(self) -> int:
        """The number of characters at the end that may begin a marker."""
        most = min(_LONGEST, len(self._held))
        lengths = range(most, 0, -1)
        return next((n for n in lengths if self._held[-n:] in self._beginnings), 0)


class ModelReply:
    """Reads a reply up to the end of its turn, without its reasoning, and notes if it has no text.

    The reasoning is in `additional_kwargs` of the pieces (`reasoning_of`).
    """

    def __init__(self, inputs: dict[str, Any]) -> None:
        """Start the reply to the question and the documents of an answerer's inputs."""
        documents = inputs["input_documents"]
        texts = [inputs["question"], *(document.page_content for document in documents)]
        self._reasoning = ReasoningFilter(texts)
        self._end = TurnEnd(texts)
        self._calls_tools = self._has_ended = False

    @property
    def is_at_end_of_turn(self) -> bool:
        """Whether the rest of the reply is not part of the answer."""
        return self._end.reached

    def read(self, piece: BaseMessage | str) -> BaseMessage | str:
        """The part of the piece before the end of the turn.

        The `finish_reason` of a reply without text becomes NO_TEXT or ONLY_TOOL_CALLS.
        """
        if isinstance(piece, str):
            return self._end.read(self._reasoning.read(piece)[0])
        self._calls_tools = self._calls_tools or _calls_tools(piece)
        if not isinstance(piece.content, str):  # content blocks are passed on unchanged
            self._end.has_text = self._end.has_text or bool(str(piece.text).strip())
            return piece
        text, reasoning = self._reasoning.read(piece.content)
        text, metadata = self._end.read(text), piece.response_metadata
        if metadata.get("finish_reason") or not isinstance(piece, AIMessageChunk):
            held_text, held_reasoning = self._held()
            text, reasoning = text + held_text, reasoning + held_reasoning
            metadata = self._end_metadata(metadata)
        if not reasoning and (text, metadata) == (piece.content, piece.response_metadata):
            return piece
        others = _with_reasoning(piece.additional_kwargs, reasoning_of(piece) + reasoning)
        changes = {"content": text, "response_metadata": metadata, "additional_kwargs": others}
        return piece.model_copy(update=changes)

    def close(self) -> AIMessageChunk:
        """The last piece of a stream: what was held back."""
        text, reasoning = self._held()
        return AIMessageChunk(
            content=text,
            additional_kwargs=_with_reasoning({}, reasoning),
            response_metadata={} if self._has_ended else self._end_metadata({}),
        )

    def _held(self) -> tuple[str, str]:
        """The answer and the reasoning that were held back."""
        text, reasoning = self._reasoning.close()
        return self._end.read(text) + self._end.close(), reasoning

    def _end_metadata(self, metadata: dict[str, Any]) -> dict[str, Any]:
        """The metadata of the piece that ends the reply."""
        self._has_ended = True
        if self._end.has_text or metadata.get("finish_reason") in CUT_SHORT_REASONS:
            return metadata
        return metadata | {"finish_reason": ONLY_TOOL_CALLS if self._calls_tools else NO_TEXT}


def _with_reasoning(others: dict[str, Any], reasoning: str) -> dict[str, Any]:
    return {**others, REASONING_KEY: reasoning} if reasoning else others


def _calls_tools(piece: BaseMessage) -> bool:
    if isinstance(piece, AIMessageChunk):
        return bool(piece.tool_call_chunks)
    return isinstance(piece, AIMessage) and bool(piece.tool_calls)
