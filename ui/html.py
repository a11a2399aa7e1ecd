"""HTML from text that is not ours: documents, questions and answers.

Everything goes through `escape` or through `answer_html`, whose Markdown knows no HTML, no
link and no image, so a document can neither inject markup nor make the browser fetch anything.
"""

import re
from html import escape as escape_html

from services.safe_markdown import Marker, markdown_to_html

HANGUL, KANA = re.compile("[가-힣]"), re.compile("[ぁ-ヿ]")


def escape(text: str) -> str:
    """The text, safe between tags and within a quoted attribute."""
    return escape_html(text, quote=True)


def answer_html(text: str, marker: Marker) -> str:
    """The answer's Markdown as HTML, each `[n]` outside of code replaced by what `marker` gives.

    `marker` is called once for each marker, in the order of the text.
    """
    return f'<div class="fn-answer"{lang(text)}>{markdown_to_html(text, marker)}</div>'


def lang(text: str) -> str:
    """A `lang` attribute for Korean and Japanese text: they break lines and draw Han differently.

    Empty for any other text, and no proof of a language: the script that prevails decides.
    """
    hangul, kana = len(HANGUL.findall(text)), len(KANA.findall(text))
    if not hangul and not kana:
        return ""
    return ' lang="ko"' if hangul > kana else ' lang="ja"'
