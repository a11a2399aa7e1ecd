"""The ledger's tables about use: stored settings, turns of imports, questions, and uploads."""

from datetime import datetime

from sqlalchemy import BigInteger, Index
from sqlalchemy.orm import Mapped, mapped_column

from storage.ledger.columns import Base, key_reference


class ImportTurnRow(Base):
    """When a person's imports of a source were last performed; see `storage.ledger.import_turns`.

    `turn` is a number that increases with each turn of anyone.
    """

    __tablename__ = "import_turns"

    user_id: Mapped[str] = mapped_column(primary_key=True)
    source_id: Mapped[str] = key_reference("sources.id")
    turn: Mapped[int]


class RecentQuestionRow(Base):
    """A question of a person within the last minute; its text is not stored here."""

    __tablename__ = "recent_questions"
    __table_args__ = (Index("ix_recent_questions_user_id", "user_id", "at"),)

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    user_id: Mapped[str]
    at: Mapped[datetime]


class UploadRow(Base):
    """An upload of a person within the last day: the number of its files, and their bytes.

    Until its files are stored (`is_stored`), its bytes are reserved.
    """

    __tablename__ = "uploads"
    __table_args__ = (Index("ix_uploads_user_id", "user_id", "at"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    user_id: Mapped[str]
    at: Mapped[datetime]
    files: Mapped[int]
    bytes: Mapped[int] = mapped_column(BigInteger)
    is_stored: Mapped[bool]


class UploadedFileRow(Base):
    """A file in an upload box, and the person who uploaded it; `location` is that of the box."""

    __tablename__ = "uploaded_files"
    __table_args__ = (Index("ix_uploaded_files_user_id", "user_id", "bytes"),)

    location: Mapped[str] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)
    user_id: Mapped[str]
    bytes: Mapped[int] = mapped_column(BigInteger)


class StoredSettingRow(Base):
    """A setting that people stored, as JSON; "null" if it was reset. See `settings_table`."""

    __tablename__ = "stored_settings"

    name: Mapped[str] = mapped_column(primary_key=True)
    entry: Mapped[str]
