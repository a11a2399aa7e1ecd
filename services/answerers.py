"""What the chat service has to know of whoever answers."""

from typing import Protocol

from domain import Answerer


class AnswererChoice(Protocol):
    """Knows what answers questions; `models.chat_choice.ChatModelChoice` is one."""

    def current(self) -> Answerer:
        """What is known now; waits for nothing."""

    def settled(self) -> Answerer:
        """What answers a question that is asked now; a server may have to be asked first."""
