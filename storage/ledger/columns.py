"""The types of the ledger's columns, and conversions between rows and values.

A damaged database page yields values of wrong types or invalid JSON. The column types detect this
on reading and report a damaged ledger; otherwise, any Python error could follow later.

On PostgreSQL, integers have 64 bits, as in SQLite. On both, NUL and lone surrogates, which texts of
PostgreSQL can't contain, are stored as U+FFFD, so that spans in the text remain right.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from decimal import Decimal
from enum import EnumType
from functools import cache, partial
from types import UnionType
from typing import TYPE_CHECKING, Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from sqlalchemy import (
    JSON,
    BigInteger,
    DateTime,
    Dialect,
    Double,
    ForeignKey,
    Integer,
    MetaData,
    Row,
    String,
    TypeDecorator,
)
from sqlalchemy.orm import DeclarativeBase, mapped_column
from sqlalchemy.types import TypeEngine

from domain.language.sanitization import sanitize
from domain.messages import from_json, from_text, to_json, to_text

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Value = TypeVar("Value", bound="DataclassInstance")

Reading = Callable[[Any], Any]
"""Converts a database value to a Python value."""


class CellError(ValueError):
    """A value can't occur in its column, so the database is damaged."""


POSTGRESQL = "postgresql"

# A pair of surrogates, one that is alone, NUL, and any other escaped character.
_ESCAPED = re.compile(r"\\(?:ud[89ab]..\\ud[c-f]..|(ud[89a-f]..|u0000)|.)")


def json_text(value: Any) -> str:
    """The value as JSON, with U+FFFD in place of the characters that `sanitize` replaces.

    A high surrogate before a low one becomes the character that the two encode.
    """
    return sanitize_json(json.dumps(value))


def sanitize_json(text: str) -> str:
    """Replace the characters that `sanitize` replaces in JSON with escapes, as `json_text` does."""
    if "\\u0000" in text or "\\ud" in text:
        return _ESCAPED.sub(_sanitized_escape, text)
    return text


def _sanitized_escape(escaped: re.Match[str]) -> str:
    return r"\ufffd" if escaped[1] else escaped[0]


class Text(TypeDecorator[str]):
    """A string, checked on reading."""

    impl = String
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002, D102  # SQLAlchemy's signature
        return value if value is None else sanitize(value)

    def result_processor(self, dialect: Dialect, coltype: object) -> Reading:  # noqa: ARG002, D102  # SQLAlchemy's signature
        return checked_text


class Whole(TypeDecorator[int]):
    """An integer, checked on reading."""

    impl = Integer
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:  # noqa: D102
        return BigInteger() if dialect.name == POSTGRESQL else Integer()

    def coerce_compared_value(self, op: Any, value: Any) -> Any:  # noqa: D102
        if isinstance(value, int):
            return self
        return self.impl_instance.coerce_compared_value(op, value)  # a float remains one

    def result_processor(self, dialect: Dialect, coltype: object) -> Reading:  # noqa: ARG002, D102  # SQLAlchemy's signature
        return _whole


class Number(Double[float]):
    """A float, checked on reading."""

    def result_processor(self, dialect: Dialect, coltype: object) -> Reading:  # noqa: ARG002, D102  # SQLAlchemy's signature
        return _number


class UtcDateTime(TypeDecorator[datetime]):
    """A time, stored in UTC without a time zone, which SQLite would drop anyway."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002, D102  # SQLAlchemy's signature
        return value if value is None else value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002, D102  # SQLAlchemy's signature
        return value if value is None else value.replace(tzinfo=UTC)

    def result_processor(self, dialect: Dialect, coltype: object) -> Reading:  # noqa: D102
        return _with_check(super().result_processor(dialect, coltype), "a date")


class Json(TypeDecorator[Any]):
    """JSON, checked on reading."""

    impl = JSON
    cache_ok = True

    def coerce_compared_value(self, op: Any, value: Any) -> Any:  # noqa: D102
        return self.impl_instance.coerce_compared_value(op, value)  # keys are not JSON

    def result_processor(self, dialect: Dialect, coltype: object) -> Reading:  # noqa: D102
        return _with_check(super().result_processor(dialect, coltype), "JSON")


class MessageText(Text):
    """A message for users, stored with its template and values."""

    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002, D102  # SQLAlchemy's signature
        return value if value is None else sanitize(to_text(value))

    def result_processor(self, dialect: Dialect, coltype: object) -> Reading:  # noqa: ARG002, D102  # SQLAlchemy's signature
        return _message


class MessageJson(Json):
    """JSON that may contain messages for users."""

    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:  # noqa: ARG002, D102  # SQLAlchemy's signature
        return to_json(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:  # noqa: ARG002, D102  # SQLAlchemy's signature
        return from_json(value)


def checked_text(value: Any) -> Any:
    """The value of a cell, which must be a string or None."""
    if value.__class__ is str or value is None:
        return value
    raise CellError(f"{_start(value)} is not a string")


def _message(value: Any) -> Any:
    return value if value is None else from_text(checked_text(value))


def _whole(value: Any) -> Any:
    if value.__class__ is int or value is None:
        return value
    if isinstance(value, Decimal):  # a sum on PostgreSQL
        return int(value)
    raise CellError(f"{_start(value)} is not an integer")


def _number(value: Any) -> Any:
    if value is None or isinstance(value, int | float):
        return value
    raise CellError(f"{_start(value)} is not a number")


def _with_check(read: Reading | None, kind: str) -> Reading:
    """Wrap `read` so that its errors are reported as damage."""

    def checked(value: Any) -> Any:
        try:
            return read(value) if read else value
        except (ValueError, TypeError, RecursionError) as error:
            raise CellError(f"{_start(value)} is not {kind}") from error

    return checked


def _start(value: Any) -> str:
    return f"{value!r:.40}"


class Base(DeclarativeBase):
    """The base of all tables; names every constraint, so migrations can drop it on any database."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(column_0_label)s",
            "uq": "uq_%(table_name)s_%(column_0_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {  # noqa: RUF012  # SQLAlchemy reads it
        str: Text,
        int: Whole,
        float: Number,
        datetime: UtcDateTime,
        dict[str, Any]: Json,
        list[Any]: Json,
    }


def reference(column: str) -> Any:
    """A foreign key; the row is deleted with the referenced row."""
    return mapped_column(ForeignKey(column, ondelete="CASCADE"), index=True)


def key_reference(column: str) -> Any:
    """A foreign key within the primary key; the row is deleted with the referenced row."""
    return mapped_column(ForeignKey(column, ondelete="CASCADE"), primary_key=True)


def columns_of(cls: "type[DataclassInstance]", row: type[Base], *, without: str = "") -> list[Any]:
    """The columns of a table that have the names of the fields of a dataclass, in their order."""
    return [getattr(row, name) for name in _names(cls) if name != without]


@cache
def _names(cls: "type[DataclassInstance]") -> tuple[str, ...]:
    return tuple(one.name for one in fields(cls))


def from_row(cls: type[Value], row: Base | Row[*tuple[Any, ...]], **values: Any) -> Value:
    """Create a dataclass from the row's columns of the same names; `values` override them.

    Values that were stored as JSON become those of the declared types again: dataclasses, named
    tuples, enums, and sequences. An empty value of an optional type becomes None.
    """
    for name, read in _readings(cls).items():
        if name not in values:
            values[name] = read(getattr(row, name))
    return cls(**values)


def from_stored(cls: type[Value], stored: Mapping[str, Any]) -> Value:
    """The inverse of `asdict`, after JSON; fields that earlier versions lacked have defaults."""
    readings = _readings(cls).items()
    return cls(**{name: read(stored[name]) for name, read in readings if name in stored})


@cache
def _readings(cls: "type[DataclassInstance]") -> dict[str, Reading]:
    types = get_type_hints(cls)
    return {name: _reading(types[name]) or _same for name in _names(cls)}


def _reading(type_: Any) -> Reading | None:
    """How a value in JSON becomes one of this type; None if it already is one."""
    origin, inner = get_origin(type_), [_reading(one) for one in get_args(type_)]
    if isinstance(type_, type) and is_dataclass(type_):
        return partial(from_stored, type_)
    if hasattr(type_, "_make"):  # a named tuple
        return cast("Reading", type_._make)
    if isinstance(type_, EnumType):
        return type_
    if origin is tuple and get_args(type_)[-1] is not ...:
        return partial(_fixed, [read or _same for read in inner])
    if origin in (tuple, frozenset, Sequence):
        return partial(_several, frozenset if origin is frozenset else tuple, inner[0] or _same)
    if origin is Mapping and inner[1]:
        return partial(_by_key, inner[1])
    if origin in (Union, UnionType) and any(inner):
        return partial(_optional, next(filter(None, inner)))
    return None


def _same(value: Any) -> Any:
    return value


def _fixed(reads: Sequence[Reading], values: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(read(value) for read, value in zip(reads, values, strict=True))


def _several(kind: Reading, read: Reading, values: Iterable[Any]) -> Any:
    return kind(map(read, values))


def _by_key(read: Reading, values: Mapping[str, Any]) -> Any:
    return {key: read(value) for key, value in values.items()}


def _optional(read: Reading, value: Any) -> Any:
    return read(value) if value else None


def shallow_dict(value: "DataclassInstance") -> dict[str, Any]:
    """The fields of a dataclass as column values, not copied as by `asdict`."""
    return {name: getattr(value, name) for name in _names(type(value))}
