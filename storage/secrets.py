"""The secrets that sources are read with, encrypted at rest."""

from typing import TYPE_CHECKING

from sqlalchemy import delete, select

from errors import ConfigError, SourceError
from storage.database import Database
from storage.tables import SourceSecretRow

if TYPE_CHECKING:
    from cryptography.fernet import MultiFernet

SETTING = "FOOTNOTE_ENCRYPTION_KEY"
_MAKE_ONE = "`python cli.py encryption-key` makes one"


class Secrets:
    """One secret of each source, which nothing but `get` gives back.

    The keys are those of `FOOTNOTE_ENCRYPTION_KEY`, separated by commas: the first encrypts, all
    of them decrypt.
    """

    def __init__(self, database: Database, keys: str) -> None:
        """Args: where they are kept, and the keys; "" is none, and then nothing can be kept."""
        self._database = database
        self._keys = keys

    def __repr__(self) -> str:
        return "Secrets()"

    def require_key(self) -> None:
        """Make sure that a secret can be kept.

        Raises:
            ConfigError: There is no key, or it is not one.
        """
        self._fernet()

    def keep(self, source_id: str, name: str, secret: str) -> None:
        """Keep this as the source's one secret, in place of any other.

        Raises:
            ConfigError: There is no key, or it is not one.
        """
        token = self._fernet().encrypt(secret.encode()).decode()
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
            SourceError: There is none, or no key of now decrypts it.
            ConfigError: There is no key, or it is not one.
        """
        from cryptography.fernet import InvalidToken

        token = self._token(source_id, name)
        if token is None:
            raise SourceError("No secret is kept of this source: change the source and enter it.")
        try:
            return self._fernet().decrypt(token).decode()
        except InvalidToken as error:
            raise SourceError(
                f"The secret of this source was encrypted with another key: put that key back into"
                f" {SETTING}, or change the source and enter the secret again."
            ) from error

    def rotate(self) -> int:
        """Encrypt all of them with the first key, so that the others may go; how many there are.

        Raises:
            SourceError: One can't be decrypted; none is changed then.
            ConfigError: There is no key, or it is not one.
        """
        from cryptography.fernet import InvalidToken

        fernet = self._fernet()
        with self._database.write() as session:
            rows = list(session.scalars(select(SourceSecretRow)))
            try:
                for row in rows:
                    row.token = fernet.rotate(row.token).decode()
            except InvalidToken as error:
                raise SourceError(
                    f"A secret was encrypted with a key that {SETTING} has no more: add that key"
                    " at its end."
                ) from error
        return len(rows)

    def _token(self, source_id: str, name: str) -> str | None:
        with self._database.read() as session:
            row = session.get(SourceSecretRow, (source_id, name))
            return None if row is None else row.token

    def _fernet(self) -> "MultiFernet":
        from cryptography.fernet import Fernet, MultiFernet

        keys = [key.strip() for key in self._keys.split(",") if key.strip()]
        if not keys:
            raise ConfigError(
                f"Secrets are kept encrypted, and {SETTING} is not set: {_MAKE_ONE}. Or name a"
                " variable of the environment instead, such as $FOOTNOTE_SECRET_WIKI."
            )
        try:
            return MultiFernet([Fernet(key) for key in keys])
        except ValueError:
            # Not chained: the cause could show the key.
            raise ConfigError(f"{SETTING} holds what is not a key: {_MAKE_ONE}.") from None


def new_key() -> str:
    """A new random key for `FOOTNOTE_ENCRYPTION_KEY`."""
    from cryptography.fernet import Fernet

    return Fernet.generate_key().decode()
