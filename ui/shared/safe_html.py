"""Safe HTML from untrusted text: documents, questions, and answers.

All of it passes through `escape` or `answer_html`. The latter's Markdown supports no HTML, links,
or images, so a document can neither inject markup nor make the browser fetch anything.
"""

import re
from collections.abc import Iterable
from functools import cache
from html import escape as escape_html
from pathlib import Path

import streamlit as st

from services.export.safe_markdown import Marker, markdown_to_html

_WHITE_SPACE = re.compile(r"[ \t\n\r\f\v]+")
_LINE_START = re.compile(r"^(\d*)(?=[-+.)])")
_SIGN = re.compile(
    # Streamlit replaces icons, emoji, addresses, and arrows after parsing Markdown, when
    # backslashes are gone. The first group matches a character that breaks each of them.
    r"(:(?=material/|[\w+-]+:|//)|@|(?<=www)\.|-(?=>)|(?<=[<-])-|(?<=[<>~])=)"
    r"|[\\`*_\[\]{}<>#|~$!&:]",
    re.ASCII | re.IGNORECASE,
)


def literal(text: str) -> str:
    """Markdown that shows exactly this text on one line, with white space collapsed."""
    line = _SIGN.sub(_escape_sign, _WHITE_SPACE.sub(" ", text).strip(" "))
    return _LINE_START.sub(r"\1\\", line)  # otherwise it would start a list


def _escape_sign(sign: re.Match[str]) -> str:
    """The character with a backslash, wrapped in an unstyled element if that is not enough."""
    return f":color[\\{sign[0]}]" if sign[1] else f"\\{sign[0]}"


LINE_CHARACTERS = 300  # the limit of text inside the program's own sentences
HANGUL, KANA = re.compile("[가-힣]"), re.compile("[ぁ-ヿ]")


def escape(text: str) -> str:
    """The text escaped for use between tags or in a quoted attribute."""
    return escape_html(text, quote=True)


def cut_html(text: str, most: int = LINE_CHARACTERS) -> str:
    """The text, escaped; a text longer than `most` characters is cut and gets an ellipsis."""
    return escape(text[:most] + ("…" if len(text) > most else ""))


def spans_html(texts: Iterable[str]) -> str:
    """A `<span>` with each text, escaped; empty texts are omitted."""
    return "".join(f"<span>{escape(text)}</span>" for text in texts if text)


def strong_html(text: str) -> str:
    """A name for the program's own sentences: bold, with its own language, and cut if too long."""
    return f"<strong{lang(text)}>{cut_html(text)}</strong>"


def answer_html(text: str, marker: Marker, *, heading: int = 2) -> str:
    """The answer's Markdown as HTML; `marker` returns the HTML for each `[n]`.

    `marker` is called once for each marker that is not escaped or in code, in the order of the
    text. Headings begin at the level `heading`.
    """
    html = markdown_to_html(text, marker, heading=heading)
    return f'<div class="fn-answer"{lang(text)}>{html}</div>'


def lang(text: str) -> str:
    """A `lang` attribute for Korean and Japanese, which differ in line breaks and Han glyphs.

    Empty for any other text. It is a guess based on the more frequent script.
    """
    hangul, kana = len(HANGUL.findall(text)), len(KANA.findall(text))
    if not hangul and not kana:
        return ""
    return ' lang="ko"' if hangul > kana else ' lang="ja"'


FOLDER = Path(__file__).parent / "script"


def run_script(name: str, **values: str) -> None:
    """Run a script, and again whenever one of the values changes.

    The script reads the values from `document.currentScript.dataset`.
    """
    data = "".join(f' data-{key}="{escape(value)}"' for key, value in values.items())
    st.html(f"<script{data}>{script_text(name)}</script>", unsafe_allow_javascript=True)


@cache
def script_text(name: str) -> str:
    """The source of a script, without tags."""
    return (FOLDER / f"{name}.js").read_text(encoding="utf-8")


def script_names() -> list[str]:
    """The sorted names for `script_text`."""
    return sorted(file.stem for file in FOLDER.glob("*.js"))


def scroll_to(what: str, *, which: int = 0, to: str = "nearest", of: str = "") -> None:
    """Scroll to an element, once per value of `of`; does nothing if it does not exist.

    `what` is a selector and `which` the index among its matches. `to` is the element's position in
    the window: "start", or "nearest" to scroll only as far as needed.
    """
    run_script("scrolling", what=what, which=str(which), to=to, of=of)
