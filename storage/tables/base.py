"""What every table of the ledger is made of."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, MetaData
from sqlalchemy.orm import DeclarativeBase, mapped_column

from storage.tables.cells import Json, Number, Text, UtcDateTime, Whole


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
    type_annotation_map = {  # noqa: RUF012  # SQLAlchemy reads it
        str: Text,
        int: Whole,
        float: Number,
        datetime: UtcDateTime,
        dict[str, Any]: Json,
        list[Any]: Json,
    }


def reference(column: str) -> Any:
    """A column that names a row of another table, and goes when that row goes."""
    return mapped_column(ForeignKey(column, ondelete="CASCADE"), index=True)


def key_reference(column: str) -> Any:
    """The same as part of the primary key."""
    return mapped_column(ForeignKey(column, ondelete="CASCADE"), primary_key=True)
