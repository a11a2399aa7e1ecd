"""Links: to pages, files, spaces, people and the rest of the web."""

import re
from typing import NamedTuple, Protocol
from urllib.parse import unquote, unquote_plus

from loaders.confluence.storage_format.elements import Element, ac, is_within, ri, say, words

UNKNOWN_USER = "unknown user"
"""Stands for a person whose name the site doesn't tell."""

# What would end the target too early for a reader of Markdown, or of a table around it.
_ENCODED = {ord(character): f"%{ord(character):02X}" for character in ' ()[]<>"|\\`\n\t'}
_BRACKET = re.compile(r"[\[\]]")
_OF_LETTERS = re.compile(r"(?:%[89A-Fa-f][\dA-Fa-f])+")
_PAGE_TITLE = re.compile(r"/pages/\d+/([^/?#]+)")
_WEB = ("http://", "https://", "mailto:")
_NO_LINKS = ("pre", "code", "a", ac("link"))  # elements with words only
_LONGEST_TEXT, _LONGEST_URL = 450, 1900  # `chains.visible_text` knows links up to these


class Links(Protocol):
    """Finds what a page's links, mentions and files name. Each answers "" for what is unknown.

    A `space_key` of None is the page's own space. URLs are absolute.
    """

    def page(self, space_key: str | None, title: str, anchor: str) -> str:
        """The URL of a page by its title, at an anchor of it unless that is empty."""

    def blog_post(self, space_key: str | None, title: str, day: str) -> str:
        """The URL of a blog post by its title and its day ("2026/11/21")."""

    def content(self, content_id: str) -> str:
        """The URL of a page or blog post by its id."""

    def attachment(self, filename: str, page_title: str | None, space_key: str | None) -> str:
        """The URL of a file attached to a page, to the one being read where the title is None."""

    def space(self, space_key: str) -> str:
        """The URL of a space."""

    def user(self, account: str) -> str:
        """The display name of a person by account id (Cloud), user key or user name (Server)."""


class Target(NamedTuple):
    """Where a link leads ("" for nowhere), and the words for it where its author wrote none."""

    url: str
    text: str


def markdown_link(text: str, url: str) -> str:
    """The link as Markdown on one line; only its words where it leads nowhere."""
    url = _OF_LETTERS.sub(_letters, url).translate(_ENCODED)
    if not url or not text or text == url or len(text) > _LONGEST_TEXT or len(url) > _LONGEST_URL:
        return text
    text = _BRACKET.sub(r"\\\g<0>", text)
    return f"[{text}]({url})"


def _letters(match: re.Match[str]) -> str:
    """Letters that Korean or Japanese titles are made of: as bytes they are three times as long."""
    text = unquote(match[0], errors="replace")
    return text if text.isalnum() else match[0]


def referred(element: Element, links: Links) -> Target | None:
    """What the first `ri:` element within names; None where there is none."""
    for child in element:
        if reader := _READERS.get(child.tag):
            return reader(child, links, element.get(ac("anchor"), ""))
    return None


def convert_link(element: Element, links: Links) -> None:
    """An `ac:link`: its body, or the name of what it leads to."""
    target = referred(element, links) or Target("", element.get(ac("anchor"), ""))
    text = words(element.find(ac("link-body"))) or words(element.find(ac("plain-text-link-body")))
    _set(element, text or target.text, target.url)


def convert_anchor(element: Element, links: Links) -> None:  # noqa: ARG001  as all converters
    """An HTML link; one that shows its own address shows the page's title where that tells it."""
    url, text = element.get("href", "").strip(), words(element)
    title = _PAGE_TITLE.search(url)
    if text == url and title:
        text = unquote_plus(title[1])
    _set(element, text, url if url.lower().startswith(_WEB) else "")


def _set(element: Element, text: str, url: str) -> None:
    say(element, text if is_within(element, *_NO_LINKS) else markdown_link(text, url))


def _page(named: Element, links: Links, anchor: str) -> Target:
    title = named.get(ri("content-title"), "")
    url = links.page(named.get(ri("space-key")), title, anchor) if title else ""
    return Target(url, title or anchor)


def _blog_post(named: Element, links: Links, anchor: str) -> Target:  # noqa: ARG001
    title = named.get(ri("content-title"), "")
    day = named.get(ri("posting-day"), "")
    return Target(links.blog_post(named.get(ri("space-key")), title, day), title)


def _attachment(named: Element, links: Links, anchor: str) -> Target:  # noqa: ARG001
    filename = named.get(ri("filename"), "")
    page = named.find(ri("page"))
    title, space = (None, None)
    if page is not None:
        title, space = page.get(ri("content-title")), page.get(ri("space-key"))
    return Target(links.attachment(filename, title, space), filename)


def _user(named: Element, links: Links, anchor: str) -> Target:  # noqa: ARG001
    username = named.get(ri("username"), "")
    account = named.get(ri("account-id")) or named.get(ri("userkey")) or username
    return Target("", (links.user(account) if account else "") or username or UNKNOWN_USER)


def _space(named: Element, links: Links, anchor: str) -> Target:  # noqa: ARG001
    key = named.get(ri("space-key"), "")
    return Target(links.space(key), key)


def _content(named: Element, links: Links, anchor: str) -> Target:  # noqa: ARG001
    url = links.content(named.get(ri("content-id"), ""))
    return Target(url, url)


def _shortcut(named: Element, links: Links, anchor: str) -> Target:  # noqa: ARG001
    return Target("", named.get(ri("parameter")) or named.get(ri("key"), ""))


def _url(named: Element, links: Links, anchor: str) -> Target:  # noqa: ARG001
    url = named.get(ri("value"), "")
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
