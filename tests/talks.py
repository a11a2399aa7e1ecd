"""The conversations that a person sees in the list."""

from datetime import UTC, datetime

from bootstrap import Services
from domain import LOCAL_USER, Conversation


def conversations_of(services: Services) -> list[Conversation]:
    """Those of the local user, the latest first."""
    groups = services.conversations.grouped(LOCAL_USER, datetime.now(UTC))
    return [one for _, conversations in groups for one in conversations]
