"""API keys; only the digest of a secret is stored."""

from datetime import datetime, timedelta

from sqlalchemy import select, update

from domain import ApiKey
from domain.errors import NotFoundError
from domain.messages import _
from storage.ledger.columns import shallow_dict
from storage.ledger.database import Store
from storage.ledger.ledger_tables import ApiKeyRow

_USED_WITHIN = timedelta(minutes=1)


class ApiKeys(Store):
    """API keys by the digest of their secret, including revoked ones."""

    def add(self, key: ApiKey, digest: str) -> None:
        """Store a new key."""
        lists = {"scopes": sorted(key.scopes), "groups": sorted(key.groups)}
        values = shallow_dict(key) | lists | {"digest": digest}
        with self._database.write() as session:
            session.add(ApiKeyRow(**values))

    def find(self, digest: str) -> ApiKey | None:
        """The key with this digest, if any."""
        return self._first(ApiKey, select(ApiKeyRow).where(ApiKeyRow.digest == digest))

    def list(self) -> list[ApiKey]:
        """All keys, oldest first."""
        return self._each(ApiKey, _ALL)

    def note_use(self, key: ApiKey, now: datetime) -> None:
        """Record the time of use, at most once a minute because reads must not wait for writes."""
        if key.used_at is not None and now - key.used_at < _USED_WITHIN:
            return
        used = update(ApiKeyRow).where(ApiKeyRow.id == key.id)
        self._execute(used.values(used_at=now), synced=False)

    def revoke(self, key_id: str, now: datetime) -> None:
        """Revoke a key.

        Raises:
            NotFoundError: There is no such key.
        """
        with self._database.write() as session:
            row = session.get(ApiKeyRow, key_id)
            if row is None:
                raise NotFoundError(
                    _(
                        "There is no API key {key_id}: `python cli.py api-key list` lists the keys."
                    ).format(key_id=repr(key_id))
                )
            row.revoked_at = row.revoked_at or now


_ALL = select(ApiKeyRow).order_by(ApiKeyRow.created_at, ApiKeyRow.id)
