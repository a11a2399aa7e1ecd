"""The conversations listed for a user."""

from datetime import UTC, datetime

from bootstrap import Services
from domain import LOCAL_USER, Conversation


def conversations_of(services: Services) -> list[Conversation]:
    """Conversations of the local user, newest first."""
    groups = services.conversations.grouped(LOCAL_USER, datetime.now(UTC))
    return [one for _, conversations in groups for one in conversations]
