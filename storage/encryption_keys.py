"""The keys that secrets are encrypted with: those of a setting, and one that is made at need."""

import logging
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from errors import ConfigError
from storage.private_files import close_to_others, is_open

if TYPE_CHECKING:
    from cryptography.fernet import Fernet

SETTING = "FOOTNOTE_ENCRYPTION_KEY"
KEY_FILE = "encryption.key"
_LOCK_TIMEOUT_S = 30.0
_LOST = (
    "If it is lost, set FOOTNOTE_ENCRYPTION_KEY to a new key, which `python cli.py encryption-key`"
    " prints, and enter the secret of each source again."
)

_log = logging.getLogger(__name__)


class EncryptionKeys:
    """The keys of the setting, separated by commas, and after them those of the key file.

    The first key encrypts, all of them decrypt. Both places are read at each use: another process
    may have made the file meanwhile.
    """

    def __init__(self, data_dir: Path, setting: str = "") -> None:
        """Args: the folder that the key file is in, and what the setting holds; "" is nothing."""
        self.path = data_dir / KEY_FILE
        self._setting = setting

    def __repr__(self) -> str:
        return f"EncryptionKeys({self.path})"

    def first(self) -> "Fernet | None":
        """The key that encrypts; None where there is none yet.

        Raises:
            ConfigError: What should be a key is none, or the file can't be read.
        """
        return next(self.all(), None)

    def all(self) -> "Iterator[Fernet]":
        """The keys in their order; the file is read only if those of the setting won't do.

        Raises:
            ConfigError: What should be a key is none, or the file can't be read.
        """
        try:
            yield from _fernets(self._setting)
        except ValueError:  # not chained: the cause could show the key
            raise ConfigError(
                f"{SETTING} holds what is not a key: `python cli.py encryption-key` makes one."
            ) from None
        yield from self._of_file()

    def create(self) -> "Fernet":
        """Make the key file, unless another process just has; the key in it.

        Raises:
            ConfigError: It can't be written.
        """
        from filelock import FileLock  # loads asyncio, and hardly any start makes a key

        try:
            # Two processes at once have to agree on one key: what either encrypted would be lost.
            with FileLock(f"{self.path}.lock", timeout=_LOCK_TIMEOUT_S, mode=0o600):
                if not self.path.exists():
                    _write(self.path, new_key())
        except OSError as error:  # the lock's timeout is one
            raise ConfigError(
                f"The key that secrets are encrypted with can't be written to {self.path}"
                f" ({error.strerror or error}): give the user who runs Footnote the right to write"
                f" there, set {SETTING}, or name a variable of the environment instead of typing"
                " the secret, such as $FOOTNOTE_SECRET_WIKI."
            ) from error
        return self._of_file()[0]

    def _of_file(self) -> "list[Fernet]":
        try:
            text = self.path.read_bytes().decode("ascii", "replace")
            keys = _fernets(text)
        except FileNotFoundError:
            return []
        except OSError as error:
            raise ConfigError(
                f"The key file {self.path} can't be read ({error.strerror or error}): give the"
                " user who runs Footnote the right to read it."
            ) from error
        except ValueError:
            keys = []
        if not keys:
            raise ConfigError(
                f"The key file {self.path} is empty or damaged: put it back from a backup. {_LOST}"
            )
        self._close()
        return keys

    def _close(self) -> None:
        if not is_open(self.path):
            return
        if close_to_others(self.path):
            _log.warning("Other users could read the key file %s: closed to them.", self.path)
        else:
            _log.warning("Other users can read the key file %s: chmod 600 it.", self.path)


def lost_key(path: Path) -> ConfigError:
    """What to do where secrets are there, and no key at all."""
    return ConfigError(
        f"The key that secrets were encrypted with is gone: put the key file {path} back from a"
        f" backup, or set {SETTING} again where the key was there. {_LOST}"
    )


def new_key() -> str:
    """A new random key, for the setting or the key file."""
    from cryptography.fernet import Fernet

    return Fernet.generate_key().decode()


def _fernets(text: str) -> "list[Fernet]":
    from cryptography.fernet import Fernet

    return [Fernet(key) for key in re.split(r"[\s,]+", text) if key]


def _write(path: Path, key: str) -> None:
    """Write the file in one step, and for good: what it encrypts is lost without it."""
    new = path.with_name(f"{path.name}.new")
    new.unlink(missing_ok=True)  # of a process that was killed here
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(f"{key}\n")
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
    if os.name != "nt":  # there folders can't be opened, and need not be
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
