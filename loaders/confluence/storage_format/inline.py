"""What stands within a line: pictures, dates and emoticons."""

import re
from urllib.parse import unquote

from loaders.confluence.storage_format.elements import Element, ac, add, ri, say, say_apart, words
from loaders.confluence.storage_format.links import Links, referred

# The emoticons of Confluence Server, and of Cloud where the page names no character for them.
_EMOTICONS = {
    "smile": "🙂", "sad": "🙁", "cheeky": "😛", "laugh": "😀", "wink": "😉", "thumbs-up": "👍",
    "thumbs-down": "👎", "information": "ℹ️", "tick": "✅", "cross": "❌", "warning": "⚠️",
    "plus": "➕", "minus": "➖", "question": "❓", "light-on": "💡", "light-off": "🌑",
    "yellow-star": "⭐", "red-star": "⭐", "green-star": "⭐", "blue-star": "⭐", "heart": "❤️",
    "broken-heart": "💔",
}  # fmt: skip
_QUERY = re.compile(r"[?#].*", re.DOTALL)


def convert_emoticon(element: Element, links: Links) -> None:  # noqa: ARG001  as all converters
    """An emoji as its character, one of the site's own by its name (:party-parrot:)."""
    name = element.get(ac("name"), "")
    shown = element.get(ac("emoji-fallback")) or _EMOTICONS.get(name)
    say(element, shown or element.get(ac("emoji-shortname")) or (f":{name}:" if name else ""))


def convert_time(element: Element, links: Links) -> None:  # noqa: ARG001  as all converters
    """A date as its author set it, without a language: 2026-11-21."""
    say(element, words(element) or element.get("datetime", ""))


def convert_image(element: Element, links: Links) -> None:
    """A picture as its alternative text, title or file name, and its caption below."""
    caption = words(element.find(ac("caption")))
    text = element.get(ac("alt")) or element.get(ac("title")) or _name(element, links)
    say_apart(element, text)
    if caption and caption != text:
        add(element, "br").tail = f"\n{caption}"


def _name(image: Element, links: Links) -> str:
    web = image.find(ri("url"))
    if web is not None:
        path = _QUERY.sub("", web.get(ri("value"), ""))
        return unquote(path.rpartition("/")[2])
    target = referred(image, links)
    return target.text if target else ""
