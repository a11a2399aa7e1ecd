"""The ledger's tables about access: restrictions and their readers."""

from sqlalchemy.orm import Mapped, mapped_column

from storage.ledger.columns import Base, key_reference


class RestrictionRow(Base):
    """A set of readers; see `storage.ledger.restriction_store`. The readers are rows of their own.

    `id` names a source or a collection, or is a digest of the readers.
    """

    __tablename__ = "restrictions"

    id: Mapped[str] = mapped_column(primary_key=True)


class RestrictionReaderRow(Base):
    """A user or group in a restriction."""

    __tablename__ = "restriction_readers"

    restriction_id: Mapped[str] = key_reference("restrictions.id")
    reader: Mapped[str] = mapped_column(primary_key=True)


class DocumentRestrictionRow(Base):
    """A restriction of a document; a document may have several.

    There is no foreign key to the document, because each new version replaces its row.
    """

    __tablename__ = "document_restrictions"

    document_id: Mapped[str] = mapped_column(primary_key=True)
    restriction_id: Mapped[str] = key_reference("restrictions.id")


class CounterRow(Base):
    """A number that increases with every change of what it is named after."""

    __tablename__ = "counters"

    name: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[int]
