"""The keys of the API; of a secret only its digest is kept."""

from datetime import datetime, timedelta

from sqlalchemy import select

from domain import ApiKey, ApiScope
from errors import NotFoundError
from storage.database import Database
from storage.tables import ApiKeyRow

_USED_WITHIN = timedelta(minutes=1)


class ApiKeys:
    """Keys by the digest of their secrets, those that were revoked among them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, key: ApiKey, digest: str) -> None:
        """Keep a new key."""
        with self._database.write() as session:
            session.add(
                ApiKeyRow(
                    id=key.id,
                    digest=digest,
                    name=key.name,
                    user_id=key.user_id,
                    scopes=sorted(key.scopes),
                    created_at=key.created_at,
                )
            )

    def find(self, digest: str) -> ApiKey | None:
        """The key with that digest; None where there is none."""
        with self._database.read() as session:
            row = session.scalar(select(ApiKeyRow).where(ApiKeyRow.digest == digest))
            return None if row is None else _key_of(row)

    def list(self) -> list[ApiKey]:
        """All keys, the oldest first."""
        with self._database.read() as session:
            return [_key_of(row) for row in session.scalars(_ALL)]

    def note_use(self, key: ApiKey, now: datetime) -> None:
        """Remember that it was used, at most once a minute: reading must not wait for writing."""
        if key.used_at is not None and now - key.used_at < _USED_WITHIN:
            return
        with self._database.write(synced=False) as session:
            row = session.get(ApiKeyRow, key.id)
            if row is not None:
                row.used_at = now

    def revoke(self, key_id: str, now: datetime) -> None:
        """Let it open nothing more.

        Raises:
            NotFoundError: There is no key of that id.
        """
        with self._database.write() as session:
            row = session.get(ApiKeyRow, key_id)
            if row is None:
                raise NotFoundError(f"There is no API key {key_id!r}.")
            row.revoked_at = row.revoked_at or now


_ALL = select(ApiKeyRow).order_by(ApiKeyRow.created_at, ApiKeyRow.id)


def _key_of(row: ApiKeyRow) -> ApiKey:
    return ApiKey(
        id=row.id,
        name=row.name,
        user_id=row.user_id,
        scopes=frozenset(map(ApiScope, row.scopes)),
        created_at=row.created_at,
        used_at=row.used_at,
        revoked_at=row.revoked_at,
    )
