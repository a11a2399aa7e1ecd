"""Whether a stretch of text begins or ends inside a word, a number or a character."""

import re
import unicodedata

from chains.visible_text import VisibleText
from language.characters import CJK

_IS_CJK = re.compile(f"[{CJK}]")
# 불가능 is not a place to quote 가능 from, nor 不可能 one for 可能.
_NEGATING_PREFIXES = "불비미무몰不非無未"
_NUMERALS = "〇零一二三四五六七八九十百千万億兆십백천만억조"


def cuts_a_word(visible: VisibleText, found: tuple[int, int], span: tuple[int, int]) -> bool:
    """Whether `visible.form[slice(*found)]`, which stands at `span` in the text, cuts a word.

    Words of Korean, Japanese and Chinese are not told apart: there only a negating prefix and
    a longer numeral count.
    """
    form, (start, end) = visible.form, found
    before, after = form[max(0, start - 2) : start], form[end : end + 2]
    if unicodedata.combining(form[start]) or unicodedata.combining(after[:1] or " "):
        return True
    if not _touches(visible.text, span[0] - 1, -1):
        before = ""
    if not _touches(visible.text, span[1], 1):
        after = ""
    return _begins_inside(before, form[start]) or _ends_inside(form[end - 1], after)


def _touches(text: str, at: int, outward: int) -> bool:
    """Whether the character there may belong to the same word: no space, no long dash."""
    if not 0 <= at < len(text) or text[at].isspace() or text[at] in "\u2014\u2015|":
        return False
    doubled = text[at] == "-" and text[at + outward : at + outward + 1] == "-"
    return not doubled


def _is_word(character: str) -> bool:
    return character == "_" or (character.isalnum() and not _IS_CJK.match(character))


def _begins_inside(before: str, first: str) -> bool:
    previous, further = before[-1:], before[-2:-1]
    if _is_word(first):
        if previous == "-":
            return first.isdecimal() or _is_word(further)
        if first.isdecimal() and previous and previous in ".,:/":
            return further.isdecimal() or (previous == "." and not further.isalnum())
        return _is_word(previous)
    if first in _NUMERALS and (previous.isdecimal() or (previous and previous in _NUMERALS)):
        return True
    return bool(previous) and previous in _NEGATING_PREFIXES and first.isalnum()


def _ends_inside(last: str, after: str) -> bool:
    following, further = after[:1], after[1:2]
    if last.isdecimal() or last in _NUMERALS:
        if following and following in _NUMERALS:
            return True
        if following and following in ".,:/" and further.isdecimal():
            return True
    if not _is_word(last):
        return False
    if following == "-":
        return _is_word(further)
    if (last, following, further) == ("n", "'", "t"):
        return True
    return _is_word(following)
