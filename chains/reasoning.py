"""The reasoning of a thinking model, in the text of its reply or in a field of its own.

The module imports quickly, for the services that a page opens.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

REASONING_KEY = "reasoning_content"
"""The key of a message's reasoning in its `additional_kwargs`, as in LangChain's integrations."""
_TAGS = {False: "<think>", True: "</think>"}


class ReasoningFilter:
    """Separates the reasoning that a model writes between `<think>` tags from its answer.

    Some servers leave it in the text. If the question or a passage contains the tag, it is text
    after the first word of the answer, because a document may be about tags.
    """

    def __init__(self, quotable_texts: Iterable[str] = ()) -> None:
        """`quotable_texts` are the passages and the question, which may contain the tag."""
        self._is_quotable = any(_TAGS[False] in text for text in quotable_texts)
        self._held = ""
        self._is_inside = self._has_reasoning = self._has_text = False

    def read(self, piece: str) -> tuple[str, str]:
        """The answer and the reasoning in the piece, as far as they can no longer change."""
        self._held += piece
        parts = {False: "", True: ""}
        while (at := self._held.find(_TAGS[self._is_inside])) >= 0:
            self._pass_tag(parts, at)
        pending = _beginning_at_end(self._held, _TAGS[self._is_inside])
        self._pass(parts, len(self._held) - pending)
        return parts[False], parts[True]

    def close(self) -> tuple[str, str]:
        """The answer or the reasoning that was held back because a tag could follow."""
        parts = {False: "", True: ""}
        self._pass(parts, len(self._held))
        return parts[False], parts[True]

    def _pass_tag(self, parts: dict[bool, str], at: int) -> None:
        tag = _TAGS[self._is_inside]
        has_text = self._has_text or bool(self._held[:at].strip())
        if self._is_quotable and has_text and not self._is_inside:
            self._pass(parts, at + len(tag))
            return
        self._pass(parts, at)
        self._held = self._held[len(tag) :]
        self._is_inside = not self._is_inside
        self._has_reasoning = True

    def _pass(self, parts: dict[bool, str], length: int) -> None:
        """Add the next characters to the answer or the reasoning."""
        text, self._held = self._held[:length], self._held[length:]
        if not self._is_inside:
            if self._has_reasoning and not self._has_text:
                text = text.lstrip()
            self._has_text = self._has_text or bool(text.strip())
        parts[self._is_inside] += text


def _beginning_at_end(text: str, tag: str) -> int:
    """The number of characters at the end of the text that may begin the tag."""
    lengths = range(min(len(tag) - 1, len(text)), 0, -1)
    return next((n for n in lengths if tag.startswith(text[-n:])), 0)


def reasoning_of(message: "BaseMessage") -> str:
    """The reasoning of a message, or a piece of it, that is not part of its text."""
    reasoning = message.additional_kwargs.get(REASONING_KEY)
    return reasoning if isinstance(reasoning, str) else ""
