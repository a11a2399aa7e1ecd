"""Markup of a model that would load something in a reader's browser, or hide where a link leads.

A document can make a model write an image whose address contains what the answer says, so that
showing the answer sends it to another server.
"""

import re

_LIVE = re.compile(r"<(?=[a-zA-Z/!?])|(?<=\])[(:]")
"""What an HTML tag, an automatic link, the target of a link or an image, and the definition of a
reference can't do without."""

_ESCAPES = {character: f"\\{character}" for character in "<(:"}
_ENTITIES = {character: f"&#{ord(character)};" for character in "<(:"}


def has_live_markup(text: str) -> bool:
    """Whether a client could read part of the text as HTML, a link, or an image."""
    return _LIVE.search(text) is not None


def defuse(text: str, *, before: str = "", after: str = "", is_code: bool = False) -> str:
    """The Markdown text with HTML, links, and images turned into plain text.

    They get a backslash. With `is_code`, the text may or may not be code, in which backslashes have
    another meaning, so the characters become entities.

    Args:
        text: The Markdown, without escaped characters unless it may be code.
        before: The character before it.
        after: The character after it.
        is_code: Whether the text may be code.
    """
    parts, at = [], 0
    for match in _LIVE.finditer(before + text + after):
        position = match.start() - len(before)
        if 0 <= position < len(text):
            character = text[position]
            parts.append(text[at:position] + (_ENTITIES if is_code else _ESCAPES)[character])
            at = position + 1
    return "".join(parts) + text[at:]
