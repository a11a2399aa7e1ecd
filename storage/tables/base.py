"""What every table of the ledger is made of."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import JSON, DateTime, Dialect, ForeignKey, MetaData, TypeDecorator
from sqlalchemy.orm import DeclarativeBase, mapped_column


class UtcDateTime(TypeDecorator[datetime]):
    """A moment, stored as UTC without its zone: SQLite would drop the zone anyway."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002, D102  # SQLAlchemy's signature
        return value if value is None else value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002, D102  # SQLAlchemy's signature
        return value if value is None else value.replace(tzinfo=UTC)


class Base(DeclarativeBase):
    """Names every constraint, so that a migration can drop it on any database."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(column_0_label)s",
            "uq": "uq_%(table_name)s_%(column_0_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {datetime: UtcDateTime, dict[str, Any]: JSON, list[Any]: JSON}  # noqa: RUF012  # SQLAlchemy reads it


def reference(column: str) -> Any:
    """A column that names a row of another table, and goes when that row goes."""
    return mapped_column(ForeignKey(column, ondelete="CASCADE"), index=True)


def key_reference(column: str) -> Any:
    """The same as part of the primary key."""
    return mapped_column(ForeignKey(column, ondelete="CASCADE"), primary_key=True)
