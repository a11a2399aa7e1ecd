"""The secrets that sources are read with, encrypted at rest."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from sqlalchemy import delete, func, select

from errors import SourceError
from storage.database import Database
from storage.encryption_keys import SETTING, EncryptionKeys, lost_key
from storage.tables import SourceSecretRow

if TYPE_CHECKING:
    from cryptography.fernet import Fernet


class Secrets:
    """One secret of each source, which nothing but `get` gives back."""

    def __init__(self, database: Database, keys: EncryptionKeys) -> None:
        """Args: where they are kept, and what they are encrypted with."""
        self._database = database
        self._keys = keys

    def __repr__(self) -> str:
        return "Secrets()"

    def require_key(self) -> None:
        """Make sure that a secret can be kept; the very first one has its key made.

        Raises:
            ConfigError: The key is lost, damaged or can't be written.
        """
        self._encryption_key()

    def keep(self, source_id: str, name: str, secret: str) -> None:
        """Keep this as the source's one secret, in place of any other.

        Raises:
            ConfigError: As for `require_key`.
        """
        token = self._encryption_key().encrypt(secret.encode()).decode()
        with self._database.write() as session:
            session.execute(delete(SourceSecretRow).where(SourceSecretRow.source_id == source_id))
            session.add(SourceSecretRow(source_id=source_id, name=name, token=token))

    def forget(self, source_id: str) -> None:
        """Delete what is kept of the source."""
        with self._database.write() as session:
            session.execute(delete(SourceSecretRow).where(SourceSecretRow.source_id == source_id))

    def has(self, source_id: str, name: str) -> bool:
        """Whether the source's secret is kept, and is of that name."""
        return self._token(source_id, name) is not None

    def get(self, source_id: str, name: str) -> str:
        """The source's secret of that name.

        Raises:
            SourceError: There is none, or no key that there is decrypts it.
            ConfigError: There is no key, or the key file is damaged.
        """
        token = self._token(source_id, name)
        if token is None:
            raise SourceError("No secret is kept of this source: change the source and enter it.")
        return self._decrypted(token)

    def rotate(self) -> int:
        """Encrypt all of them with the first key, so that the others may go; how many there are.

        Raises:
            SourceError: One can't be decrypted; none is changed then.
            ConfigError: There is no key, or the key file is damaged.
        """
        with self._database.write() as session:
            rows = list(session.scalars(select(SourceSecretRow)))
            if rows:
                self._encrypt_again(rows)
        return len(rows)

    def _encrypt_again(self, rows: Iterable[SourceSecretRow]) -> None:
        key = self._encryption_key()
        for row in rows:
            row.token = key.encrypt(self._decrypted(row.token).encode()).decode()

    def _token(self, source_id: str, name: str) -> str | None:
        with self._database.read() as session:
            row = session.get(SourceSecretRow, (source_id, name))
            return None if row is None else row.token

    def _encryption_key(self) -> "Fernet":
        # Looked up first: another process may make the first key and the first secret meanwhile.
        is_first = not self._count()
        key = self._keys.first()
        if key is None and not is_first:
            raise lost_key(self._keys.path)
        return key or self._keys.create()

    def _count(self) -> int:
        with self._database.read() as session:
            return session.scalar(select(func.count()).select_from(SourceSecretRow)) or 0

    def _decrypted(self, token: str) -> str:
        from cryptography.fernet import InvalidToken

        for key in self._keys.all():
            try:
                return key.decrypt(token).decode()
            except InvalidToken:
                continue
        if self._keys.first() is None:
            raise lost_key(self._keys.path)
        raise SourceError(
            f"The secret was encrypted with another key: put that key back into {SETTING} or"
            f" {self._keys.path}, or change the source and enter the secret again."
        )
