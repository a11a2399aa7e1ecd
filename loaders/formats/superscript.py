"""Superscripts in plain text, where their digits must not become part of another number."""

import re

_START, _END = "\x04", "\x05"  # control characters, which no document's text contains
_SPLIT = _END + _START
_BEFORE_DIGIT = re.compile(rf"(?<=\d){_END}+(?=\d)")
_AFTER_NUMBER = re.compile(rf"(?:(?<=\d)|(?<=\d[.,:/])){_START}+(?=[-+−–.,]?\d)")


def superscript(text: str) -> str:
    """The text of a superscript for `join_superscripts`."""
    return f"{_START}{text}{_END}" if text.strip() else text


def join_superscripts(text: str) -> str:
    """The text in which each `superscript` is plain text that does not change a number.

    After a number, those that begin with a digit get ^: 10^6 cells, 25^1 days, but m2 and 5th. One
    that ends with a digit is separated from a number after it.
    """
    text = _BEFORE_DIGIT.sub(" ", text.replace(_SPLIT, ""))
    return _AFTER_NUMBER.sub("^", text).replace(_START, "").replace(_END, "")


def continues_number(before: str, text: str) -> bool:
    """Whether the text would become part of the number that `before` ends with."""
    return _AFTER_NUMBER.search(before[-2:] + _START + text[:2]) is not None
