"""Converts random pages of known elements and checks that no word is lost or reordered."""

import re
from html import escape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loaders.confluence.storage_format import to_markdown
from loaders.split import split
from tests.loaders.confluence.storage_format.site import Nowhere, Site, cdata, macro, task, tasks
from tests.quick import examples

pytestmark = pytest.mark.slow

WORD = st.text("abzAZ09가힣あ漢é&<>\"'#*_-|[]()🙂", min_size=1, max_size=6)
PLAIN = WORD.map(lambda word: ("text", [word]))


def wrap(tag, **attributes):
    opening = "".join(f' {name}="{value}"' for name, value in attributes.items())
    return lambda inner: f"<{tag}{opening}>{inner}</{tag}>"


def attribute(before, after):
    return lambda word: f"{before}{word}{after}"


WITH_A_WORD = {
    "alt": attribute('<ac:image ac:alt="', '"><ri:attachment ri:filename="x.png"/></ac:image>'),
    "file": attribute('<ac:image><ri:attachment ri:filename="', '.png"/></ac:image>'),
    "page": attribute('<ac:link><ri:page ri:content-title="', '"/></ac:link>'),
    "user": attribute('<ac:link><ri:user ri:username="', '"/></ac:link>'),
    "day": attribute('<time datetime="', '"/>'),
    "emoji": attribute('<ac:emoticon ac:name="x" ac:emoji-fallback="', '"/>'),
    "status": lambda word: macro("status", title=word, colour="Red"),
    "jira": lambda word: macro("jira", key=word),
    "formula": lambda word: macro("mathinline", body=word),
    "drawing": lambda word: macro("drawio", diagramName=word, width="1"),
}
WITH_CODE = {
    "code block": lambda text: macro("code", language="py", plain=text),
    "noformat": lambda text: macro("noformat", plain=text),
    "unknown plain": lambda text: macro("foo", plain=text),
    "link words": lambda text: (
        '<ac:link><ri:page ri:content-title="T"/>'
        f"<ac:plain-text-link-body>{cdata(text)}</ac:plain-text-link-body></ac:link>"
    ),
}
WITH_PARTS = {
    **{
        tag: wrap(tag)
        for tag in (
            "p",
            "h2",
            "h5",
            "strong",
            "em",
            "code",
            "blockquote",
            "div",
            "span",
            "u",
            "pre",
        )
    },
    "ul": lambda inner: f"<ul><li>{inner}</li></ul>",
    "ol": lambda inner: f"<ol><li><p>{inner}</p></li></ol>",
    "table": lambda inner: f"<table><tbody><tr><th>h</th><td>{inner}</td></tr></tbody></table>",
    "layout": lambda inner: (
        "<ac:layout><ac:layout-section><ac:layout-cell>"
        f"{inner}</ac:layout-cell></ac:layout-section></ac:layout>"
    ),
    "task": lambda inner: tasks(task("complete", inner)),
    "comment": wrap("ac:inline-comment-marker"),
    "link": lambda inner: (
        f'<ac:link><ri:page ri:content-title="T"/><ac:link-body>{inner}</ac:link-body></ac:link>'
    ),
    "web": wrap("a", href="https://e.example/"),
    "extension": lambda inner: (
        '<ac:adf-extension><ac:adf-node type="panel"><ac:adf-attribute key="panel-type">tip'
        f"</ac:adf-attribute><ac:adf-content>{inner}</ac:adf-content></ac:adf-node>"
        "</ac:adf-extension>"
    ),
    **{
        name: lambda inner, name=name: macro(name, rich=inner, title="t")
        for name in ("info", "panel", "expand", "excerpt", "details", "section", "toc-zone", "foo")
    },
    "warning": lambda inner: macro("warning", rich=inner),
}


def nested_in(parts):
    return st.tuples(st.sampled_from(sorted(WITH_PARTS)), st.lists(parts, min_size=1, max_size=4))


LEAVES = (
    PLAIN
    | st.tuples(st.sampled_from(sorted(WITH_A_WORD)), st.lists(WORD, min_size=1, max_size=1))
    | st.tuples(st.sampled_from(sorted(WITH_CODE)), st.lists(WORD, min_size=1, max_size=1))
)
PAGES = st.lists(st.recursive(LEAVES, nested_in, max_leaves=25), min_size=1, max_size=6)


def to_storage(tree, words):
    """Convert the tree to storage format. Its words, each made unique, are appended to `words`."""
    kind, parts = tree
    if kind in WITH_PARTS:
        return WITH_PARTS[kind]("".join(to_storage(part, words) for part in parts))
    words.append(f"{parts[0]}x{len(words)}z")
    if kind in WITH_CODE:
        return WITH_CODE[kind](words[-1])
    return WITH_A_WORD.get(kind, str)(escape(words[-1]))


def assert_all_in_order(words, text):
    position = 0
    for word in words:
        start = text.find(word, position)
        assert start >= 0, (word, text)
        position = start + len(word)


@given(PAGES)
@settings(deadline=None, max_examples=examples(100))
def test_every_word_of_a_page_is_in_the_markdown_in_order(page):
    words = []
    storage = "".join(to_storage(tree, words) for tree in page)
    for links in (Nowhere(), Site()):
        text = to_markdown(storage, links)
        assert_all_in_order(words, re.sub(r"\\(?=[|\[\]])", "", text))
        assert split(text, document_id="d", version="1")


@given(PAGES, st.data())
@settings(deadline=None, max_examples=examples(50))
def test_truncated_pages_are_converted(page, data):
    storage = "".join(to_storage(tree, []) for tree in page)
    cut = storage[: data.draw(st.integers(0, len(storage)))]
    assert isinstance(to_markdown(cut, Site()), str)
