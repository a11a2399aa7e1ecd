"""Glob patterns over relative paths, with `**` for any number of folders."""

import re
import unicodedata
from collections.abc import Iterable, Sequence

from errors import InputError


class Globs:
    """A set of patterns; it matches what any of them does, regardless of Unicode form.

    `*`, `?` and `[...]` stay within one folder, `**` crosses folders (`docs/**/*.md` finds
    `docs/a.md` too), and a pattern without a slash is asked of the name alone, at any depth.
    A pattern that none can be made of raises InputError.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        normal = [unicodedata.normalize("NFC", pattern).strip("/") for pattern in patterns]
        self._of_names = _compiled(pattern for pattern in normal if "/" not in pattern)
        self._of_paths = _compiled(pattern for pattern in normal if "/" in pattern)

    def match(self, path: str) -> bool:
        """Whether a relative path with "/" between its parts, in NFC, matches."""
        name = path.rsplit("/", 1)[-1]
        return any(p.fullmatch(name) for p in self._of_names) or any(
            p.fullmatch(path) for p in self._of_paths
        )


def _compiled(patterns: Iterable[str]) -> list[re.Pattern[str]]:
    return [_expression(pattern) for pattern in patterns]


def _expression(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(_translated(pattern), re.DOTALL)
    except re.error as error:
        raise InputError(
            f"{pattern} is no pattern ({error.msg}): write it like *.md or docs/**, and a range of "
            "letters like [a-z]."
        ) from error


def _translated(pattern: str) -> str:
    out = ""
    at = 0
    while at < len(pattern):
        for glob, expression in (
            ("**/", "(?:[^/]+/)*"),
            ("**", ".*"),
            ("*", "[^/]*"),
            ("?", "[^/]"),
        ):
            if pattern.startswith(glob, at):
                out += expression
                at += len(glob)
                break
        else:
            piece, at = _class_or_letter(pattern, at)
            out += piece
    return out


def _class_or_letter(pattern: str, at: int) -> tuple[str, int]:
    """A bracket expression, or one letter as itself, and where the pattern goes on."""
    end = pattern.find("]", at + 2)
    if pattern[at] != "[" or end < 0:
        return re.escape(pattern[at]), at + 1
    inside = pattern[at + 1 : end].replace("\\", "\\\\").replace("[", "\\[")
    negated = inside.startswith("!")
    return f"[^/{inside[1:]}]" if negated else f"[{inside}]", end + 1
