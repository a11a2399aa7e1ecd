"""Who may call the API."""

from datetime import datetime
from typing import Any

from sqlalchemy.orm import Mapped, mapped_column

from storage.tables.base import Base


class ApiKeyRow(Base):
    """A key of the API, by the digest of its secret; see `domain.ApiKey`."""

    __tablename__ = "api_keys"

    id: Mapped[str] = mapped_column(primary_key=True)
    digest: Mapped[str] = mapped_column(unique=True)
    name: Mapped[str]
    user_id: Mapped[str]
    scopes: Mapped[list[Any]]
    created_at: Mapped[datetime]
    used_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
