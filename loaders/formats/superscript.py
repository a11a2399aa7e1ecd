"""Superscripts in plain text, where their digits must not become part of another number."""

import re
from typing import Any

START, END = "\ufdd0", "\ufdd1"  # noncharacters, which texts do not contain and lxml accepts
MIN_RISE_PT = 3.0
"""The least rise of a superscript in points; smaller ones only adjust letters to the line."""
MIN_RISE_SHARE = 0.2
"""The same as a share of the font size; superscripts usually rise by a third of it."""
_SPLIT = END + START
_BEFORE_DIGIT = re.compile(rf"(?<=\d){END}+(?=\d)")
_AFTER_NUMBER = re.compile(rf"(?:(?<=\d)|(?<=\d[.,:/])){START}+(?=[-+−–.,]?\d)")


def superscript(text: str) -> str:
    """The text of a superscript for `join_superscripts`."""
    return f"{START}{text}{END}" if text.strip() else text


def mark_superscript(element: Any) -> None:
    """Let the text within an lxml element be a superscript for `join_superscripts`."""
    if not "".join(element.itertext()).strip():
        return
    element.text = f"{START}{element.text or ''}"
    if len(element):
        element[-1].tail = f"{element[-1].tail or ''}{END}"
    else:
        element.text += END


def join_superscripts(text: str) -> str:
    """The text in which each `superscript` is plain text that does not change a number.

    After a number, those that begin with a digit get ^: 10^6 cells, 25^1 days, but m2 and 5th. One
    that ends with a digit is separated from a number after it.
    """
    text = _BEFORE_DIGIT.sub(" ", text.replace(_SPLIT, ""))
    return _AFTER_NUMBER.sub("^", text).replace(START, "").replace(END, "")


def continues_number(before: str, text: str) -> bool:
    """Whether the text would become part of the number that `before` ends with."""
    return _AFTER_NUMBER.search(before[-2:] + START + text[:2]) is not None
