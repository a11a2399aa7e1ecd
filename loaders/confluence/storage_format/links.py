"""Converts links to pages, files, spaces, people, and the web; pictures, dates, and emoticons."""

import re
from typing import NamedTuple, Protocol
from urllib.parse import unquote, unquote_plus

from loaders.confluence.storage_format.elements import (
    Element,
    ac,
    add,
    is_within,
    ri,
    set_separate_text,
    set_text,
    words,
)

UNKNOWN_USER = "unknown user"
"""Shown for a person whose name is unknown."""

# Characters that would end the link target, or a table cell around it, in Markdown.
_ENCODED = {ord(character): f"%{ord(character):02X}" for character in ' ()[]<>"|\\`\n\t'}
_BRACKET = re.compile(r"[\[\]]")
_OF_LETTERS = re.compile(r"(?:%[89A-Fa-f][\dA-Fa-f])+")
_PAGE_TITLE = re.compile(r"/pages/\d+/([^/?#]+)")
_WEB = ("http://", "https://", "mailto:")
_NO_LINKS = ("pre", "code", "a", ac("link"))  # elements that contain only words
_LONGEST_TEXT, _LONGEST_URL = 450, 1900  # limits of `chains.citations.visible_text`


class Links(Protocol):
    """Resolves a page's links, mentions, and files. Methods return "" if the target is unknown.

    A `space_key` of None means the page's own space. URLs are absolute.
    """

    def page(self, space_key: str | None, title: str, anchor: str) -> str:
        """The URL of a page by its title, with the anchor unless that is empty."""

    def blog_post(self, space_key: str | None, title: str, day: str) -> str:
        """The URL of a blog post by its title and day (such as "2026/11/21")."""

    def content(self, content_id: str) -> str:
        """The URL of a page or blog post by its id."""

    def attachment(self, filename: str, page_title: str | None, space_key: str | None) -> str:
        """The URL of a file attached to a page; if the title is None, to the current page."""

    def space(self, space_key: str) -> str:
        """The URL of a space."""

    def user(self, account: str) -> str:
        """The display name of a person by account id (Cloud), user key, or user name (Server)."""


class Target(NamedTuple):
    """The URL of a link ("" if it leads nowhere), and its text if the author wrote none."""

    url: str
    text: str


def markdown_link(text: str, url: str) -> str:
    """The link as Markdown on one line; only its text if it leads nowhere or is too long."""
    url = _OF_LETTERS.sub(_letters, url).translate(_ENCODED)
    if not url or not text or text == url or len(text) > _LONGEST_TEXT or len(url) > _LONGEST_URL:
        return text
    text = _BRACKET.sub(r"\\\g<0>", text)
    return f"[{text}]({url})"


def _letters(match: re.Match[str]) -> str:
    """Decode percent-encoded letters: a Korean or Japanese one takes nine characters otherwise.

    Other characters stay encoded.
    """
    text = unquote(match[0], errors="replace")
    return text if text.isalnum() else match[0]


def link_target(element: Element, links: Links) -> Target | None:
    """The target of the first `ri:` element in the element; None if it has none."""
    for child in element:
        if reader := _READERS.get(child.tag):
            return reader(child, links, element.get(ac("anchor"), ""))
    return None


def convert_link(element: Element, links: Links) -> None:
    """Convert an `ac:link` to its body, or to the name of its target."""
    target = link_target(element, links) or Target("", element.get(ac("anchor"), ""))
    text = words(element.find(ac("link-body"))) or words(element.find(ac("plain-text-link-body")))
    _set(element, text or target.text, target.url)


def convert_anchor(element: Element, links: Links) -> None:  # noqa: ARG001  as all converters
    """Convert an HTML link; if its text is its address, show the page title in it instead."""
    url, text = element.get("href", "").strip(), words(element)
    title = _PAGE_TITLE.search(url)
    if text == url and title:
        text = unquote_plus(title[1])
    _set(element, text, url if url.lower().startswith(_WEB) else "")


def _set(element: Element, text: str, url: str) -> None:
    set_text(element, text if is_within(element, *_NO_LINKS) else markdown_link(text, url))


def _page(resource: Element, links: Links, anchor: str) -> Target:
    title = resource.get(ri("content-title"), "")
    url = links.page(resource.get(ri("space-key")), title, anchor) if title else ""
    return Target(url, title or anchor)


def _blog_post(resource: Element, links: Links, anchor: str) -> Target:  # noqa: ARG001
    title = resource.get(ri("content-title"), "")
    day = resource.get(ri("posting-day"), "")
    return Target(links.blog_post(resource.get(ri("space-key")), title, day), title)


def _attachment(resource: Element, links: Links, anchor: str) -> Target:  # noqa: ARG001
    filename = resource.get(ri("filename"), "")
    page = resource.find(ri("page"))
    title, space = (None, None)
    if page is not None:
        title, space = page.get(ri("content-title")), page.get(ri("space-key"))
    return Target(links.attachment(filename, title, space), filename)


def _user(resource: Element, links: Links, anchor: str) -> Target:  # noqa: ARG001
    username = resource.get(ri("username"), "")
    account = resource.get(ri("account-id")) or resource.get(ri("userkey")) or username
    return Target("", (links.user(account) if account else "") or username or UNKNOWN_USER)


def _space(resource: Element, links: Links, anchor: str) -> Target:  # noqa: ARG001
    key = resource.get(ri("space-key"), "")
    return Target(links.space(key), key)


def _content(resource: Element, links: Links, anchor: str) -> Target:  # noqa: ARG001
    url = links.content(resource.get(ri("content-id"), ""))
    return Target(url, url)


def _shortcut(resource: Element, links: Links, anchor: str) -> Target:  # noqa: ARG001
    return Target("", resource.get(ri("parameter")) or resource.get(ri("key"), ""))


def _url(resource: Element, links: Links, anchor: str) -> Target:  # noqa: ARG001
    url = resource.get(ri("value"), "")
    return Target(url, url)


_READERS = {
    ri("page"): _page,
    ri("blog-post"): _blog_post,
    ri("attachment"): _attachment,
    ri("user"): _user,
    ri("space"): _space,
    ri("content-entity"): _content,
    ri("shortcut"): _shortcut,
    ri("url"): _url,
}


# The emoticons of Confluence Server, and of Cloud if the page names no character for them.
_EMOTICONS = {
    "smile": "🙂", "sad": "🙁", "cheeky": "😛", "laugh": "😀", "wink": "😉", "thumbs-up": "👍",
    "thumbs-down": "👎", "information": "ℹ️", "tick": "✅", "cross": "❌", "warning": "⚠️",
    "plus": "➕", "minus": "➖", "question": "❓", "light-on": "💡", "light-off": "🌑",
    "yellow-star": "⭐", "red-star": "⭐", "green-star": "⭐", "blue-star": "⭐", "heart": "❤️",
    "broken-heart": "💔",
}  # fmt: skip
_QUERY = re.compile(r"[?#].*", re.DOTALL)


def convert_emoticon(element: Element, links: Links) -> None:  # noqa: ARG001  as all converters
    """Convert an emoji to its character; a custom emoji to its name (:party-parrot:)."""
    name = element.get(ac("name"), "")
    emoji = element.get(ac("emoji-fallback")) or _EMOTICONS.get(name)
    set_text(element, emoji or element.get(ac("emoji-shortname")) or (f":{name}:" if name else ""))


def convert_time(element: Element, links: Links) -> None:  # noqa: ARG001  as all converters
    """Convert a date to its language-independent form: 2026-11-21."""
    set_text(element, words(element) or element.get("datetime", ""))


def convert_image(element: Element, links: Links) -> None:
    """Convert a picture to its alternative text, title, or file name, with its caption below."""
    caption = words(element.find(ac("caption")))
    text = element.get(ac("alt")) or element.get(ac("title")) or _name(element, links)
    set_separate_text(element, text)
    if caption and caption != text:
        add(element, "br").tail = f"\n{caption}"


def _name(image: Element, links: Links) -> str:
    web = image.find(ri("url"))
    if web is not None:
        path = _QUERY.sub("", web.get(ri("value"), ""))
        return unquote(path.rpartition("/")[2])
    target = link_target(image, links)
    return target.text if target else ""
