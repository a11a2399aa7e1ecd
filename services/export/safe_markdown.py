"""Renders untrusted Markdown, such as that of an answer, as HTML."""

from collections.abc import Callable, Sequence
from functools import cache
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from services.export.answer_text import SHOWN_MARKER

_FORBIDDEN = ["html_block", "html_inline", "link", "image", "autolink", "reference", "entity"]

Marker = Callable[[int], str]
"""Returns the HTML that replaces the next marker with that number, or "" to leave it as text."""


def markdown_to_html(text: str, marker: Marker, *, heading: int) -> str:
    """Render Markdown as HTML, with each marker replaced by the result of `marker`.

    A marker is an `[n]` that is neither escaped nor in code; `marker` is called once for each, in
    order. HTML, links, and images in the text are not rendered, so a document can neither inject
    markup nor make the browser fetch anything. Headings begin at level `heading` (1 to 6) and skip
    no level, to fit into the outline of the page.
    """
    parser, env = _parser(), {"marker": marker}
    tokens = parser.parse(text, env)
    _level_headings(tokens, heading)
    html: str = parser.renderer.render(tokens, parser.options, env)
    return html


def _level_headings(tokens: Sequence[Token], first: int) -> None:
    headings = [token for token in tokens if token.type in ("heading_open", "heading_close")]
    used = sorted({token.tag for token in headings})
    levels = {tag: f"h{min(level, 6)}" for level, tag in enumerate(used, start=first)}
    for token in headings:
        token.tag = levels[token.tag]


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False})
    parser.enable(["table", "strikethrough"]).disable(_FORBIDDEN)
    parser.inline.ruler.push("marker", _read_marker)
    parser.add_render_rule("marker", _render_marker)
    return parser


def _read_marker(state: StateInline, silent: bool) -> bool:
    match = SHOWN_MARKER.match(state.src, state.pos, state.posMax)
    if match is None:
        return False
    if not silent:
        state.push("marker", "", 0).content = match[0]
    state.pos = match.end()
    return True


def _render_marker(
    _renderer: Any, tokens: Sequence[Token], index: int, _options: Any, env: dict[str, Any]
) -> str:
    text = tokens[index].content
    return env["marker"](int(text[1:-1])) or escape(text)
