"""The types of the ledger's columns; what none of them can have written is refused when read.

A damaged page gives values of other kinds, or text that is no JSON: met here, it is a damaged
ledger, met later it would be any error of Python.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import JSON, DateTime, Dialect, Double, Integer, String, TypeDecorator

Reading = Callable[[Any], Any]
"""Makes of what the database gives what Python gets."""


class CellError(ValueError):
    """A cell holds what its column can't hold."""


class Text(String):
    """A text."""

    def result_processor(self, dialect: Dialect, coltype: object) -> Reading:  # noqa: ARG002, D102  # SQLAlchemy's signature
        return _text


class Whole(Integer):
    """A whole number."""

    def result_processor(self, dialect: Dialect, coltype: object) -> Reading:  # noqa: ARG002, D102  # SQLAlchemy's signature
        return _whole


class Number(Double[float]):
    """A number."""

    def result_processor(self, dialect: Dialect, coltype: object) -> Reading:  # noqa: ARG002, D102  # SQLAlchemy's signature
        return _number


class UtcDateTime(TypeDecorator[datetime]):
    """A moment, stored as UTC without its zone: SQLite would drop the zone anyway."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002, D102  # SQLAlchemy's signature
        return value if value is None else value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002, D102  # SQLAlchemy's signature
        return value if value is None else value.replace(tzinfo=UTC)

    def result_processor(self, dialect: Dialect, coltype: object) -> Reading:  # noqa: D102
        return _checked(super().result_processor(dialect, coltype), "a date")


class Json(TypeDecorator[Any]):
    """JSON."""

    impl = JSON
    cache_ok = True

    def coerce_compared_value(self, op: Any, value: Any) -> Any:  # noqa: D102
        return self.impl_instance.coerce_compared_value(op, value)  # a key of it is no JSON

    def result_processor(self, dialect: Dialect, coltype: object) -> Reading:  # noqa: D102
        return _checked(super().result_processor(dialect, coltype), "JSON")


def _text(value: Any) -> Any:
    if value.__class__ is str or value is None:
        return value
    raise CellError(f"{_start(value)} is no text")


def _whole(value: Any) -> Any:
    if value.__class__ is int or value is None:
        return value
    raise CellError(f"{_start(value)} is no whole number")


def _number(value: Any) -> Any:
    if value is None or isinstance(value, int | float):
        return value
    raise CellError(f"{_start(value)} is no number")


def _checked(read: Reading | None, kind: str) -> Reading:
    """What `read` refuses is damage."""

    def checked(value: Any) -> Any:
        try:
            return read(value) if read else value
        except (ValueError, TypeError, RecursionError) as error:
            raise CellError(f"{_start(value)} is no {kind}") from error

    return checked


def _start(value: Any) -> str:
    return f"{value!r:.40}"
