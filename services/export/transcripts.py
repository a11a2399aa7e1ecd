"""Exports a conversation as a file in one of three formats."""

import re
from collections.abc import Callable, Sequence
from enum import StrEnum

from domain import Conversation, Turn
from services.export.transcript_html import to_html
from services.export.transcript_json import to_json
from services.export.transcript_markdown import to_markdown
from storage.ledger.conversation_store import LATEST, TurnTree

_LONGEST_NAME = 60


class TranscriptFormat(StrEnum):
    """The export formats of a conversation; the values are file extensions."""

    MARKDOWN = "md"
    HTML = "html"
    JSON = "json"


def render(
    conversation: Conversation,
    turns: Sequence[Turn],
    format: TranscriptFormat,
    *,
    language: str = "en",
    translate: Callable[[str], str] = str,
) -> bytes:
    """The file in UTF-8. Markdown and HTML contain the shown branch, JSON all turns.

    The program's own words are translated in HTML only.
    """
    if format is TranscriptFormat.JSON:
        return to_json(conversation, turns)
    branch = shown_branch(conversation, turns)
    if format is TranscriptFormat.HTML:
        return to_html(conversation, branch, language=language, translate=translate).encode()
    return to_markdown(conversation, branch).encode()


def shown_branch(conversation: Conversation, turns: Sequence[Turn]) -> list[Turn]:
    """The turns from the first to the one shown last; `turns` are all turns of the conversation."""
    tree = TurnTree(conversation.shown_turn_id, {turn.id: turn.parent_id for turn in turns})
    by_id = {turn.id: turn for turn in turns}
    return [by_id[turn_id] for turn_id in tree.branch(tree.resolve(LATEST))]


def file_name(title: str, format: str) -> str:
    """A portable file name from the letters and digits of the title."""
    words = re.sub(r"[\W_]+", " ", title).split()
    return f"{'-'.join(words)[:_LONGEST_NAME].strip('-') or 'conversation'}.{format}"
