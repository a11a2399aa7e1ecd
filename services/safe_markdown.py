"""Markdown that is not ours, such as an answer's, as HTML."""

from collections.abc import Callable, Sequence
from functools import cache
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from services.answer_text import SHOWN_MARKER

_FORBIDDEN = ["html_block", "html_inline", "link", "image", "autolink", "reference", "entity"]

Marker = Callable[[int], str]
"""HTML in place of the next marker with that number, or "" to leave it as text."""


def markdown_to_html(text: str, marker: Marker, *, heading: int) -> str:
    """The Markdown as HTML, each `[n]` not escaped or in code replaced by what `marker` gives.

    No HTML, link or image of the text is followed, so that a document can neither inject markup
    nor make the browser fetch anything. `marker` is called once for each marker, in the order of
    the text. Its headings begin at the level `heading`, 1 to 6, and leave none out, so that they
    fit into the outline of the page.
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
    found = SHOWN_MARKER.match(state.src, state.pos, state.posMax)
    if found is None:
        return False
    if not silent:
        state.push("marker", "", 0).content = found[0]
    state.pos = found.end()
    return True


def _render_marker(
    _renderer: Any, tokens: Sequence[Token], index: int, _options: Any, env: dict[str, Any]
) -> str:
    written = tokens[index].content
    return env["marker"](int(written[1:-1])) or escape(written)
