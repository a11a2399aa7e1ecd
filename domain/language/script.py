"""Detects the script of a text, and thus which languages a model must know to read it."""

import re
import unicodedata
from collections.abc import Callable
from typing import Literal

HANGUL = "\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\uac00-\ud7a3\ud7b0-\ud7fb"
HIRAGANA = "\u3041-\u3096\u309d-\u309f"
# Includes the prolonged sound mark and iteration marks, but not the middle dot (a separator).
KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"
# Includes the ideographic iteration mark, closing mark, and zero, which behave like Han characters.
HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
KANA = HIRAGANA + KATAKANA
CJK = HANGUL + KANA + HAN
IS_CJK = re.compile(f"[{CJK}]")
LATIN = (
    "A-Za-z\u00aa\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02af\u1e00-\u1eff"
    "\uff21-\uff3a\uff41-\uff5a"
)
CYRILLIC = "\u0400-\u052f"


def fold(text: str) -> str:
    """The text in NFKC and case-folded, so that texts that differ only in form become equal.

    This unifies half-width and full-width forms, decomposed file names (NFD), and ligatures. The
    length may change, so positions in the result are not positions in `text`.
    """
    # Migration 0010 stores texts in this form, so a change of the form needs another migration.
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


# An English page that mentions a Korean product stays English; a Korean sentence full of English
# product names stays Korean.
_ENOUGH = 0.2
# Japanese has kana in nearly every phrase; a Chinese page may quote a few Japanese words.
_ENOUGH_KANA = 0.05


def _counter(pattern: str) -> Callable[[str], int]:
    runs = re.compile(pattern)
    return lambda text: sum(map(len, runs.findall(text)))


_hangul = _counter(f"[{HANGUL}]+")
_kana = _counter(f"[{KANA}]+")
_han = _counter(f"[{HAN}]+")
_latin = _counter(f"[{LATIN}]+")


def script_of(text: str) -> str:
    """The script that decides which language family a model must know to read the text.

    Returns:
        "korean", "japanese", or "chinese" if at least a fifth of the letters are in that script;
        otherwise "latin" if at least half of them are, or else "other"; "none" if there are no
        letters. Han characters without kana count as Chinese.
    """
    letters = sum(map(str.isalpha, text))
    if letters == 0:
        return "none"
    if text.isascii():
        return "latin"
    if _hangul(text) >= _ENOUGH * letters:
        return "korean"
    kana, han = _kana(text), _han(text)
    if kana + han >= _ENOUGH * letters:
        return "japanese" if kana >= _ENOUGH_KANA * (kana + han) else "chinese"
    return "latin" if 2 * _latin(text) >= letters else "other"


def script_family(text: str) -> str:
    """`korean`, `japanese`, or `latin`: the scripts of most texts in Footnote.

    Text with Han characters but without kana counts as Japanese: in this application, it is far
    more often a short Japanese text than Chinese.
    """
    return _FAMILIES.get(script_of(text), "latin")


def is_foreign(text: str, other: str) -> bool:
    """Whether the texts have different script families and so are unlikely to share a word."""
    return script_family(text) != script_family(other)


Language = Literal["english", "korean", "japanese"]

# "WireGuard設定は？" is Japanese, no matter how long its product names are.
_LATIN_NAME = re.compile(r"(?<![A-Za-z])[A-Z][A-Za-z0-9_.-]*")
_FAMILIES: dict[str, Language] = {"korean": "korean", "japanese": "japanese", "chinese": "japanese"}


def answer_language(question: str) -> Language:
    """The language in which to answer the question; English if it is in another language."""
    return _FAMILIES.get(script_of(_LATIN_NAME.sub("", question)), "english")
