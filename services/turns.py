"""The turns of conversations as they were kept: read, and one of their branches shown."""

from collections.abc import Mapping
from dataclasses import dataclass

from domain import Principal, Turn
from storage.conversations import Conversations


@dataclass(frozen=True)
class TurnService:
    """What a person reads again of what was asked and answered; `ChatService` adds to it.

    Every call raises NotFoundError where the person has no such conversation.
    """

    conversations: Conversations

    def get(self, principal: Principal, conversation_id: str, turn_id: str) -> Turn:
        """One turn of any branch, as it stands now.

        Raises:
            NotFoundError: The conversation has no such turn.
        """
        return self.conversations.turn(principal, conversation_id, turn_id)

    def list(self, principal: Principal, conversation_id: str) -> list[Turn]:
        """The turns of the branch that is shown, from the first question on."""
        return self.conversations.turns(principal, conversation_id)

    def versions(self, principal: Principal, conversation_id: str) -> Mapping[str, tuple[str, ...]]:
        """For each turn of all branches the ids of its versions, with its own, oldest first."""
        return self.conversations.versions(principal, conversation_id)

    def show(self, principal: Principal, conversation_id: str, turn_id: str) -> None:
        """Show the branch of that version from now on, down to the newest turn that came of it.

        Raises:
            NotFoundError: The conversation has no such turn.
        """
        self.conversations.show(principal, conversation_id, turn_id)
