"""The `q` of files.list: the supported terms and all ways to combine them."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from operator import eq, ge, gt, le, lt, ne
from typing import Any

from tests.fakes.google_drive_items import Item
from tests.fakes.loopback import RefusedError

MAX_TERMS = 500
Matches = Callable[[Item], bool]

_TOKEN = re.compile(r"\s*(?:('(?:[^'\\]|\\.)*')|([A-Za-z]+)|(<=|>=|!=|=|<|>)|([()]))")
_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": eq,
    "!=": ne,
    "<": lt,
    "<=": le,
    ">": gt,
    ">=": ge,
}


class Query:
    """A parsed query: `matches(item)`, and the `folders` whose contents it asks for.

    As in Drive, `and` and `or` have equal precedence and are evaluated left to right.
    """

    def __init__(self, text: str, root_id: str = "") -> None:
        """Args: `root_id` replaces 'root'.

        Raises:
            RefusedError: The query is malformed or has a term that Drive or the fake lacks.
        """
        self.text, self.folders, self._root_id = text, [], root_id
        self._tokens = self._split(text)
        self._terms = 0
        self.matches: Matches = self._expression() if self._tokens else lambda item: True
        if self._tokens:
            self._refuse()
        if self._terms > MAX_TERMS:
            raise RefusedError("The query is too complex.")

    def _split(self, text: str) -> list[str]:
        tokens, end = [], 0
        while text[end:].strip():
            match = _TOKEN.match(text, end)
            if match is None:
                self._refuse()
            tokens.append(match.group().strip())
            end = match.end()
        return tokens

    def _expression(self) -> Matches:
        left = self._factor()
        while self._tokens and self._tokens[0] in ("and", "or"):
            left = _joined(self._tokens.pop(0), left, self._factor())
        return left

    def _factor(self) -> Matches:
        token = self._next()
        if token == "not":
            inner = self._factor()
            return lambda item: not inner(item)
        if token == "(":
            inner = self._expression()
            self._expect(")")
            return inner
        self._terms += 1
        return self._membership(token) if token.startswith("'") else self._comparison(token)

    def _membership(self, value: str) -> Matches:
        self._expect("in")
        self._expect("parents")
        folder = _text(value)
        folder = self._root_id if folder == "root" else folder
        self.folders.append(folder)
        return lambda item: any(parent.id == folder for parent in item.parents)

    def _comparison(self, name: str) -> Matches:
        operator, value = self._next(), self._next()
        if name == "trashed" and operator in ("=", "!=") and value in ("true", "false"):
            expected = (value == "true") is (operator == "=")
            return lambda item: item.trashed is expected
        if not value.startswith("'"):
            self._refuse()
        if name == "modifiedTime" and operator in _COMPARISONS:
            moment = _moment(_text(value))
            return lambda item: _COMPARISONS[operator](item.modified, moment)
        return self._text_comparison(name, operator, _text(value))

    def _text_comparison(self, name: str, operator: str, value: str) -> Matches:
        if name not in ("name", "mimeType") or operator not in ("=", "!=", "contains"):
            self._refuse()
        if name == "mimeType" and operator == "contains":
            return lambda item: item.mime.startswith(value)
        if name == "mimeType":
            return lambda item: _COMPARISONS[operator](item.mime, value)
        if operator == "contains":
            return lambda item: _has_prefix(item.name, value)
        return lambda item: _COMPARISONS[operator](item.name.lower(), value.lower())

    def _next(self) -> str:
        if not self._tokens:
            self._refuse()
        return self._tokens.pop(0)

    def _expect(self, token: str) -> None:
        if self._next() != token:
            self._refuse()

    def _refuse(self) -> None:
        raise RefusedError(f"Invalid value of q: {self.text}")


def _joined(operator: str, left: Matches, right: Matches) -> Matches:
    if operator == "and":
        return lambda item: left(item) and right(item)
    return lambda item: left(item) or right(item)


def _text(quoted: str) -> str:
    return re.sub(r"\\(.)", r"\1", quoted[1:-1])


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise RefusedError(f"Invalid value of q: {text} is no time") from error
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _has_prefix(name: str, value: str) -> bool:
    """Drive matches prefixes of words: "Hello" and "World" in HelloWorld.txt, never "loW"."""
    words = [name, *re.split(r"\W+", name)]
    return any(word.lower().startswith(value.lower()) for word in words)
