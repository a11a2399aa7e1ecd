"""Glob patterns over relative paths, with `**` for any number of folders.

RE2 matches them in linear time. pathspec interprets patterns as .gitignore does: `*.md` also
matches everything in a folder of that name. It also uses Python's `re`, which takes seconds for
`*a*a*a*a*b`.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

from domain.errors import InputError
from domain.messages import _

_WILDCARDS = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
_TOKEN = re.compile(r"\*\*/|\*\*|\[(?P<inside>.[^\]]*)\]|.", re.DOTALL)


class Globs:
    """A set of patterns; it matches a path if any of them does, regardless of Unicode form.

    `*`, `?`, and `[...]` match within one folder; `**` matches any number of folders
    (`docs/**/*.md` also matches `docs/a.md`). A pattern without a slash matches the name alone, at
    any depth. An invalid pattern raises InputError.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        normal = [unicodedata.normalize("NFC", pattern).strip("/") for pattern in patterns]
        self._of_names = _compile(pattern for pattern in normal if "/" not in pattern)
        self._of_paths = _compile(pattern for pattern in normal if "/" in pattern)

    def match(self, path: str) -> bool:
        """Whether a relative path matches; it must be in NFC with "/" between its parts."""
        name = path.rsplit("/", 1)[-1]
        return any(p.fullmatch(name) for p in self._of_names) or any(
            p.fullmatch(path) for p in self._of_paths
        )


def _compile(patterns: Iterable[str]) -> list[Any]:
    return [_expression(pattern) for pattern in patterns]


def _expression(pattern: str) -> Any:
    import re2  # type: ignore[import-untyped]

    options = re2.Options()
    options.dot_nl = True
    options.log_errors = False
    try:
        return re2.compile(_TOKEN.sub(_translate, pattern), options)
    except re2.error as error:
        raise InputError(
            _(
                "{pattern} is not a valid pattern ({error}): use patterns such as *.md or"
                " docs/**, and ranges such as [a-z]."
            ).format(pattern=pattern, error=error)
        ) from error


def _translate(token: re.Match[str]) -> str:
    glob, inside = token[0], token["inside"]
    if inside is None:
        return _WILDCARDS.get(glob) or re.escape(glob)
    escaped = inside.replace("\\", "\\\\").replace("[", "\\[")
    return f"[^/{escaped[1:]}]" if escaped.startswith("!") else f"[{escaped}]"
