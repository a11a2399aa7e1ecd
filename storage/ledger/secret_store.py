"""The secrets of sources, encrypted at rest."""

import hmac
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import delete, func, select

from domain.errors import ConfigError, SourceError
from domain.logs import get_logger
from domain.messages import _
from storage.data_folder import close_to_others, is_open_to_others
from storage.ledger.database import Database, Store
from storage.ledger.ledger_location import KEY_FILE
from storage.ledger.ledger_tables import SourceSecretRow
from storage.safe_writes import replace_private_text, stamp_of, sync_folder

if TYPE_CHECKING:
    from cryptography.fernet import Fernet


_LOCK_TIMEOUT_S = 30.0

_log = get_logger("storage")


class EncryptionKeys:
    """The comma-separated keys in the setting, followed by those in the key file.

    The first key encrypts; all of them decrypt. The file is read at each use, because another
    process may have created it.
    """

    def __init__(self, data_dir: Path, setting: str = "") -> None:
        """Set the folder of the key file and the value of the setting."""
        self.path = data_dir / KEY_FILE
        self._setting = setting

    def __repr__(self) -> str:
        return f"EncryptionKeys({self.path})"

    def first(self) -> "Fernet | None":
        """The encryption key; None if there is none yet.

        Raises:
            ConfigError: A key is invalid, or the file can't be read.
        """
        return next(self.all(), None)

    def all(self) -> "Iterator[Fernet]":
        """Yield all keys in order; reads the file only after the keys in the setting.

        Raises:
            ConfigError: A key is invalid, or the file can't be read.
        """
        try:
            yield from _fernets(self._setting)
        except ValueError:  # not chained, because the cause could show the key
            raise ConfigError(
                _(
                    "FOOTNOTE_ENCRYPTION_KEY contains an invalid key: create one with `python"
                    " cli.py encryption-key`."
                )
            ) from None
        yield from self._file_keys()

    def stamp(self) -> str:
        """A text that differs after each change of the key file; "" if there is no file."""
        return stamp_of(self.path)

    def decrypt(self, token: str) -> str | None:
        """The text of this token; None if no key decrypts it.

        Raises:
            ConfigError: A key is invalid, or the file can't be read.
        """
        return _decrypted(token, self.all())

    def first_decrypts(self, token: str) -> bool:
        """Whether the key that encrypts also decrypts this token.

        Raises:
            ConfigError: A key is invalid, or the file can't be read.
        """
        return _decrypted(token, islice(self.all(), 1)) is not None

    def create(self) -> "Fernet":
        """Create the key file, unless another process just did, and return its key.

        Raises:
            ConfigError: The file can't be written.
        """
        from filelock import FileLock  # loads asyncio, and rarely needed

        try:
            # Concurrent processes must agree on one key; otherwise, secrets would be lost.
            with FileLock(f"{self.path}.lock", timeout=_LOCK_TIMEOUT_S, mode=0o600):
                if not self.path.exists():
                    replace_private_text(self.path, f"{new_key()}\n")
                    sync_folder(self.path.parent)  # secrets are lost without the key
        except OSError as error:  # includes lock timeouts
            raise ConfigError(
                _(
                    "The encryption key for secrets can't be written to {path} ({strerror}): grant"
                    " write permission to the user who runs Footnote, set FOOTNOTE_ENCRYPTION_KEY,"
                    " or enter the name of an environment variable instead of the secret, such as"
                    " $FOOTNOTE_SECRET_WIKI."
                ).format(path=self.path, strerror=error.strerror or error)
            ) from error
        return self._file_keys()[0]

    def derive(self, purpose: str) -> str:
        """A secret of 64 hexadecimal digits for this purpose, from the key that encrypts.

        It is the same in all processes with that key. Creates the first key if necessary.

        Raises:
            ConfigError: A key is invalid, or the file can't be read or written.
        """
        if self.first() is None:
            self.create()
        text = next(iter(_key_texts(self._setting)), "") or self.path.read_text(encoding="ascii")
        key = next(iter(_key_texts(text))).encode()
        return hmac.new(key, purpose.encode(), "sha256").hexdigest()

    def _file_keys(self) -> "list[Fernet]":
        try:
            text = self.path.read_bytes().decode("ascii", "replace")
            keys = _fernets(text)
        except FileNotFoundError:
            return []
        except OSError as error:
            raise ConfigError(
                _(
                    "The key file {path} can't be read ({strerror}): grant read permission to the"
                    " user who runs Footnote."
                ).format(path=self.path, strerror=error.strerror or error)
            ) from error
        except ValueError:
            keys = []
        if not keys:
            raise ConfigError(
                _(
                    "The key file {path} is empty or damaged: restore it from a backup. If it is"
                    " lost, set FOOTNOTE_ENCRYPTION_KEY to a new key from `python cli.py"
                    " encryption-key`, and enter the secret of each source again."
                ).format(path=self.path)
            )
        self._close()
        return keys

    def _close(self) -> None:
        if not is_open_to_others(self.path):
            return
        if close_to_others(self.path):
            _log.warning("Other users could read the key file %s: permissions fixed.", self.path)
        else:
            _log.warning("Other users can read the key file %s: run chmod 600 on it.", self.path)


def _decrypted(token: str, keys: "Iterable[Fernet]") -> str | None:
    """The text of this token; None if no key decrypts it."""
    from cryptography.fernet import InvalidToken

    for key in keys:
        with suppress(InvalidToken):
            return key.decrypt(token).decode()
    return None


def lost_key(path: Path) -> ConfigError:
    """The error if secrets are stored but there is no key."""
    return ConfigError(
        _(
            "The encryption key for the stored secrets is missing: restore the key file {path} from"
            " a backup, or set FOOTNOTE_ENCRYPTION_KEY again if the key was there. If it is lost,"
            " set FOOTNOTE_ENCRYPTION_KEY to a new key from `python cli.py encryption-key`, and"
            " enter the secret of each source again."
        ).format(path=path)
    )


def new_key() -> str:
    """A new random key, for the setting or the key file."""
    from cryptography.fernet import Fernet

    return Fernet.generate_key().decode()


def _fernets(text: str) -> "list[Fernet]":
    from cryptography.fernet import Fernet

    return [Fernet(key) for key in _key_texts(text)]


def _key_texts(text: str) -> list[str]:
    return [key for key in re.split(r"[\s,]+", text) if key]


class Secrets(Store):
    """Stores one secret per source, which only `get` reveals."""

    def __init__(self, database: Database, keys: EncryptionKeys) -> None:
        super().__init__(database)
        self._keys = keys

    def __repr__(self) -> str:
        return "Secrets()"

    def require_key(self) -> None:
        """Make sure that a secret can be stored; creates the first key if necessary.

        Raises:
            ConfigError: The key is lost or damaged, or it can't be written.
        """
        self._encryption_key()

    def save(self, source_id: str, name: str, secret: str) -> None:
        """Store the source's secret, replacing an earlier one.

        Raises:
            ConfigError: See `require_key`.
        """
        token = self._encryption_key().encrypt(secret.encode()).decode()
        with self._database.write() as session:
            session.execute(delete(SourceSecretRow).where(SourceSecretRow.source_id == source_id))
            session.add(SourceSecretRow(source_id=source_id, name=name, token=token))

    def forget(self, source_id: str) -> None:
        """Delete the secret of a source."""
        self._execute(delete(SourceSecretRow).where(SourceSecretRow.source_id == source_id))

    def get(self, source_id: str, name: str) -> str:
        """Decrypt the source's secret.

        Raises:
            SourceError: The source has no secret, or none of the keys decrypts it.
            ConfigError: There is no key, or the key file is damaged.
        """
        with self._database.read() as session:
            row = session.get(SourceSecretRow, (source_id, name))
        if row is None:
            raise SourceError(_("This source has no stored secret: edit the source and enter it."))
        return self._decrypt(row.token)

    def rotate(self) -> int:
        """Encrypt all secrets with the first key, so that the other keys can be removed.

        Returns the number of secrets.

        Raises:
            SourceError: A secret can't be decrypted; nothing was changed.
            ConfigError: There is no key, or the key file is damaged.
        """
        with self._database.write() as session:
            rows = list(session.scalars(select(SourceSecretRow)))
            if rows:
                key = self._encryption_key()
                for row in rows:
                    row.token = key.encrypt(self._decrypt(row.token).encode()).decode()
        return len(rows)

    def _encryption_key(self) -> "Fernet":
        # Count first, because another process may create the first key and secret in between.
        is_first = not self._count(select(func.count()).select_from(SourceSecretRow))
        key = self._keys.first()
        if key is None and not is_first:
            raise lost_key(self._keys.path)
        return key or self._keys.create()

    def _decrypt(self, token: str) -> str:
        secret = self._keys.decrypt(token)
        if secret is not None:
            return secret
        if self._keys.first() is None:
            raise lost_key(self._keys.path)
        raise SourceError(
            _(
                "The secret was encrypted with another key: restore that key in"
                " FOOTNOTE_ENCRYPTION_KEY or {path}, or edit the source and enter the secret"
                " again."
            ).format(path=self._keys.path)
        )
