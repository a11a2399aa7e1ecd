"""HTML from text that is not ours: documents, questions and answers.

Everything goes through `escape` or through `answer_html`, whose Markdown knows no HTML, no
link and no image, so a document can neither inject markup nor make the browser fetch anything.
"""

import re
from html import escape as escape_html

from services.safe_markdown import Marker, markdown_to_html

LINE_CHARACTERS = 300  # of what is told in passing
HANGUL, KANA = re.compile("[가-힣]"), re.compile("[ぁ-ヿ]")


def escape(text: str) -> str:
    """The text, safe between tags and within a quoted attribute."""
    return escape_html(text, quote=True)


def cut_html(text: str, most: int = LINE_CHARACTERS) -> str:
    """The text, escaped; of a longer one its first `most` characters and an ellipsis."""
    return escape(text[:most] + ("…" if len(text) > most else ""))


def strong_html(text: str) -> str:
    """What a sentence of ours names, in its own language and no longer than a line or two."""
    return f"<strong{lang(text)}>{cut_html(text)}</strong>"


def answer_html(text: str, marker: Marker, *, heading: int = 2) -> str:
    """The answer's Markdown as HTML, each `[n]` not escaped or in code as what `marker` gives.

    `marker` is called once for each marker, in the order of the text, whose headings begin at the
    level `heading`.
    """
    html = markdown_to_html(text, marker, heading=heading)
    return f'<div class="fn-answer"{lang(text)}>{html}</div>'


def lang(text: str) -> str:
    """A `lang` attribute for Korean and Japanese text: they break lines and draw Han differently.

    Empty for any other text, and no proof of a language: the script that prevails decides.
    """
    hangul, kana = len(HANGUL.findall(text)), len(KANA.findall(text))
    if not hangul and not kana:
        return ""
    return ' lang="ko"' if hangul > kana else ' lang="ja"'
