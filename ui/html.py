"""HTML from text that is not ours: documents, questions and answers.

Everything goes through `escape` or through `answer_html`, whose Markdown knows no HTML, no
link and no image, so a document can neither inject markup nor make the browser fetch anything.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache
from html import escape as escape_html
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

HANGUL, KANA = re.compile("[가-힣]"), re.compile("[ぁ-ヿ]")
MARKER = re.compile(r"\[(\d{1,3})\]")
FORBIDDEN = ["html_block", "html_inline", "link", "image", "autolink", "reference", "entity"]

Marker = Callable[[int], str]
"""HTML in place of the next marker with that number, or "" to leave it as text."""


def escape(text: str) -> str:
    """The text, safe between tags and within a quoted attribute."""
    return escape_html(text, quote=True)


def answer_html(text: str, marker: Marker) -> str:
    """The answer's Markdown as HTML, each `[n]` outside of code replaced by what `marker` gives.

    `marker` is called once for each marker, in the order of the text.
    """
    html: str = _parser().render(text, {"marker": marker})
    return f'<div class="fn-answer"{lang(text)}>{html}</div>'


def lang(text: str) -> str:
    """A `lang` attribute for Korean and Japanese text: they break lines and draw Han differently.

    Empty for any other text, and no proof of a language: the script that prevails decides.
    """
    hangul, kana = len(HANGUL.findall(text)), len(KANA.findall(text))
    if not hangul and not kana:
        return ""
    return ' lang="ko"' if hangul > kana else ' lang="ja"'


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False})
    parser.enable(["table", "strikethrough"]).disable(FORBIDDEN)
    parser.add_render_rule("text", _render_text)
    return parser


def _render_text(
    _renderer: Any, tokens: Sequence[Token], index: int, _options: Any, env: dict[str, Any]
) -> str:
    pieces, end = [], 0
    text = tokens[index].content
    for match in MARKER.finditer(text):
        html = env["marker"](int(match[1])) or escape(match[0])
        pieces += [escape(text[end : match.start()]), html]
        end = match.end()
    return "".join([*pieces, escape(text[end:])])
