"""The CQL that importers and people use, strictly parsed into a test and an order.

After Atlassian's "CQL fields" and "Advanced searching using CQL". As on a real site, dates are
compared by the minute in the time zone of the caller.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from html import unescape
from typing import Any

from tests.fakes.loopback import RefusedError

EQUAL, LIST, ORDER, WORDS = {"=", "!="}, {"in", "not in"}, {">", ">=", "<", "<="}, {"~", "!~"}
FIELDS = {
    **dict.fromkeys(("ancestor", "parent", "container", "id", "content"), EQUAL | LIST),
    **dict.fromkeys(("space", "type", "label", "creator"), EQUAL | LIST),
    "title": EQUAL | LIST | WORDS,
    "text": WORDS,
    "created": EQUAL | ORDER,
    "lastmodified": EQUAL | ORDER,
}
SORTABLE = {"id", "type", "space", "title", "created", "lastmodified"}
TYPES = {"page", "blogpost", "attachment", "comment"}
IDS = {"ancestor", "parent", "container", "id", "content"}
DATE = re.compile(r"(\d{4})[-/](\d\d?)[-/](\d\d?)(?: (\d\d?):(\d\d))?$")
NOW = re.compile(r"now\(\s*(?:[\"']?([-+]?\d+)([mhdwMy])[\"']?)?\s*\)$")
UNITS = {"m": 1, "h": 60, "d": 1440, "w": 10080, "M": 43200, "y": 525600}
TOKEN = re.compile(
    r"""\s*(?:(?P<quoted>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(?P<call>now\([^()]*\))"""
    r"""|(?P<sign>!=|>=|<=|!~|[=<>~(),])|(?P<word>[^\s"'=<>~!(),]+))"""
)
RESERVED = re.compile(r"[;?|*/%^$#@\[\]{}&+`\\]|^(?i:and|or|not|in|order)$")

Test = Callable[[Any], bool]


@dataclass(frozen=True)
class Query:
    """`keep` tests whether a content matches; `sort` orders the matches."""

    keep: Test
    sort: Callable[[list], list]


def parse(cql: str, now: datetime, zone: tzinfo) -> Query:
    """Parse the query for a caller in `zone` at `now`; raises RefusedError with the reason."""
    return _Parser(cql, now, zone).query()


class _Parser:
    def __init__(self, cql: str, now: datetime, zone: tzinfo):
        self.cql, self.now, self.zone = cql, now, zone
        self.tokens = self._tokens()

    def query(self) -> Query:
        keep = (lambda _: True) if self._word(0) == "order" else self._any_of()
        sort = self._order() if self._accept("order") else list
        if self.tokens:
            self._fail(f"{self.tokens[0][1]!r} was not expected")
        return Query(keep, sort)

    def _tokens(self) -> list[tuple[str, str]]:
        tokens, place, text = [], 0, self.cql.rstrip()
        while place < len(text):
            match = TOKEN.match(text, place)
            if match is None:
                self._fail(f"unreadable at {text[place : place + 20]!r}")
            place = match.end()
            tokens.append((match.lastgroup, match[match.lastgroup]))
        return tokens

    def _fail(self, reason: str):
        raise RefusedError(f"Could not parse cql : {self.cql} ({reason})")

    def _word(self, place: int) -> str | None:
        """The word or sign here, in lower case; None at the end or at a quoted value."""
        if place >= len(self.tokens) or self.tokens[place][0] == "quoted":
            return None
        return self.tokens[place][1].lower()

    def _accept(self, *words: str) -> bool:
        is_next = all(self._word(place) == word for place, word in enumerate(words))
        if is_next:
            del self.tokens[: len(words)]
        return is_next

    def _expect(self, word: str) -> None:
        if not self._accept(word):
            self._fail(f"{word!r} is missing before {self._word(0)!r}")

    def _any_of(self) -> Test:
        tests = [self._all_of()]
        while self._accept("or"):
            tests.append(self._all_of())
        return tests[0] if len(tests) == 1 else lambda content: any(t(content) for t in tests)

    def _all_of(self) -> Test:
        tests = [self._one()]
        while self._accept("and"):
            tests.append(self._one())
        return tests[0] if len(tests) == 1 else lambda content: all(t(content) for t in tests)

    def _one(self) -> Test:
        if self._accept("not"):
            test = self._one()
            return lambda content: not test(content)
        if self._accept("("):
            test = self._any_of()
            self._expect(")")
            return test
        return self._clause()

    def _clause(self) -> Test:
        field = self._word(0)
        if field not in FIELDS:
            self._fail(f"there is no field {field!r}")
        del self.tokens[0]
        operator = "not in" if self._accept("not", "in") else self._word(0)
        if operator not in FIELDS[field]:
            self._fail(f"{field} has no operator {operator!r}")
        if operator != "not in":
            del self.tokens[0]
        values = self._list() if operator in LIST else [self._value()]
        return self._test(field, operator, values)

    def _list(self) -> list[str]:
        self._expect("(")
        values = [self._value()]
        while self._accept(","):
            values.append(self._value())
        self._expect(")")
        return values

    def _value(self) -> str:
        if not self.tokens or self.tokens[0][0] == "sign":
            self._fail("a value is missing")
        kind, text = self.tokens.pop(0)
        if kind == "quoted":
            return re.sub(r"\\(.)", r"\1", text[1:-1])
        if kind == "word" and RESERVED.search(text):
            self._fail(f"{text!r} is reserved, or has a reserved character: quote it")
        return text

    def _test(self, field: str, operator: str, values: list[str]) -> Test:
        if field in ("created", "lastmodified"):
            return self._compare_dates(field, operator, values[0])
        matches = self._matcher(field, operator, values)
        if operator in ("!=", "not in", "!~"):
            return lambda content: not matches(content)
        return matches

    def _matcher(self, field: str, operator: str, values: list[str]) -> Test:
        if operator in WORDS:
            query_words, body = words(values[0]), field == "text"
            return lambda c: query_words <= words(f"{c.title} {c.storage if body else ''}")
        self._check(field, values)
        many = frozenset(map(str.casefold, values)) if field == "title" else frozenset(values)
        read = _READ[field]
        return lambda content: not many.isdisjoint(read(content))

    def _check(self, field: str, values: list[str]) -> None:
        if field == "type" and not TYPES.issuperset(values):
            self._fail(f"there is no type {sorted(set(values) - TYPES)}")
        if field in IDS and not all(re.fullmatch(r"(att)?\d+", value) for value in values):
            self._fail(f"{field} takes numbers, not {values}")

    def _compare_dates(self, field: str, operator: str, value: str) -> Test:
        moment, step = self._moment(value)

        def test(content) -> bool:
            at = (content.created if field == "created" else content.modified).astimezone(self.zone)
            at = at.replace(second=0, microsecond=0, tzinfo=None)
            inside = moment <= at < moment + step
            return {
                "=": inside,
                "!=": not inside,
                ">": at > moment,
                ">=": at >= moment,
                "<": at < moment,
                "<=": at <= moment,
            }[operator]

        return test

    def _moment(self, value: str) -> tuple[datetime, timedelta]:
        """The local minute that a value denotes, and the length of its period."""
        local = self.now.astimezone(self.zone).replace(second=0, microsecond=0, tzinfo=None)
        relative = NOW.match(value)
        if relative:
            amount = int(relative[1] or 0) * UNITS[relative[2] or "m"]
            return local + timedelta(minutes=amount), timedelta(minutes=1)
        parts = DATE.match(value)
        if parts is None:
            self._fail(f"{value!r} is no date")
        numbers = [int(part) for part in parts.groups() if part is not None]
        step = timedelta(minutes=1) if parts[4] else timedelta(days=1)
        try:
            return datetime(*numbers), step
        except ValueError as error:
            self._fail(f"{value!r} is no date: {error}")

    def _order(self) -> Callable[[list], list]:
        self._expect("by")
        keys = [self._sort_key()]
        while self._accept(","):
            keys.append(self._sort_key())

        def sort(contents: list) -> list:
            for field, backwards in reversed(keys):
                contents = sorted(contents, key=_SORT[field], reverse=backwards)
            return contents

        return sort

    def _sort_key(self) -> tuple[str, bool]:
        field = self._word(0)
        if field not in SORTABLE:
            self._fail(f"can't order by {field!r}")
        del self.tokens[0]
        return field, not self._accept("asc") and self._accept("desc")


def words(text: str) -> frozenset[str]:
    """The words of a text or of a storage format, case-folded."""
    return frozenset(re.findall(r"\w+", unescape(re.sub(r"<[^>]*>", " ", text)).casefold()))


_READ: dict[str, Callable[[Any], Any]] = {
    "id": lambda content: (content.id,),
    "content": lambda content: (content.id,),
    "type": lambda content: (content.type,),
    "space": lambda content: (content.space.key,),
    "title": lambda content: (content.title.casefold(),),
    "label": lambda content: content.labels,
    "creator": lambda content: (content.author,),
    "parent": lambda content: (content.parent,) if content.parent else (),
    "ancestor": lambda content: [above.id for above in content.ancestors()],
    "container": lambda content: (content.container,) if content.container else (),
}
_SORT: dict[str, Callable[[Any], Any]] = {
    "id": lambda content: content.number,
    "type": lambda content: content.type,
    "space": lambda content: content.space.key,
    "title": lambda content: content.title.casefold(),
    "created": lambda content: content.created,
    "lastmodified": lambda content: content.modified,
}
