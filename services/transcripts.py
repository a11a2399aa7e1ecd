"""A conversation as a file: what it is called, and which of the three forms it takes."""

import re
from collections.abc import Sequence
from enum import StrEnum

from domain import Conversation, Turn
from services.transcript_html import to_html
from services.transcript_json import to_json
from services.transcript_markdown import to_markdown
from storage.turn_tree import LATEST, TurnTree

_LONGEST_NAME = 60


class TranscriptFormat(StrEnum):
    """The forms a conversation is exported in: their names are the files' endings."""

    MARKDOWN = "md"
    HTML = "html"
    JSON = "json"


def render(conversation: Conversation, turns: Sequence[Turn], format: TranscriptFormat) -> bytes:
    """The file in UTF-8; Markdown and HTML hold the shown branch, JSON all of the turns."""
    if format is TranscriptFormat.JSON:
        return to_json(conversation, turns)
    shown = shown_branch(conversation, turns)
    if format is TranscriptFormat.HTML:
        return to_html(conversation, shown).encode()
    return to_markdown(conversation, shown).encode()


def shown_branch(conversation: Conversation, turns: Sequence[Turn]) -> list[Turn]:
    """From the first turn to the one that is shown last, of all turns of the conversation."""
    tree = TurnTree(conversation.shown_turn_id, {turn.id: turn.parent_id for turn in turns})
    by_id = {turn.id: turn for turn in turns}
    return [by_id[turn_id] for turn_id in tree.branch(tree.resolve(LATEST))]


def file_name(title: str, format: str) -> str:
    """A name for the file that every system takes, made of the title's letters and digits."""
    words = re.sub(r"[\W_]+", " ", title).split()
    return f"{'-'.join(words)[:_LONGEST_NAME].strip('-') or 'conversation'}.{format}"
