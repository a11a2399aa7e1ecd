"""Which script a text is written in, and so which languages a model must know to read it."""

import re
from collections.abc import Callable

from language.characters import HAN, HANGUL, KANA, LATIN

# A page of English that names a Korean product stays English; a Korean sentence full of English
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
        "korean", "japanese" or "chinese" where at least a fifth of the letters are of that
        script, else "latin" where at least half of them are, else "other"; "none" where there
        are no letters. Han characters without kana count as Chinese.
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
    """`korean`, `japanese` or `latin`, the three that texts here are mostly in.

    Han characters alone are far more often a short Japanese text here than Chinese.
    """
    script = {"chinese": "japanese"}.get(script_of(text), script_of(text))
    return script if script in ("korean", "japanese") else "latin"


def is_foreign(text: str, other: str) -> bool:
    """Whether the texts are of different script families, and so can hardly share a word."""
    return script_family(text) != script_family(other)
