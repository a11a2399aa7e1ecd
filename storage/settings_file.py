"""The settings that people store in the data folder, with encrypted secrets."""

import json
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import cached_property
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING

from domain.errors import ConfigError, StorageError
from domain.messages import _
from storage.ledger.secret_store import EncryptionKeys
from storage.safe_writes import replace_private_text, stamp_of
from storage.settings_store import Entries, SettingsStore, StoredSettings

if TYPE_CHECKING:
    from filelock import FileLock

SETTINGS_FILE = "settings.json"
DAMAGED_FILE = "settings.json.damaged"
_LOCK_TIMEOUT_S = 10.0


class _DamagedFileError(ConfigError):
    """The file is not JSON, or not an object."""


class SettingsFile(SettingsStore):
    """Reads the file, and replaces it atomically.

    A file that is not JSON counts as empty; the first change renames it, so that it is not lost. A
    file that can't be read is never replaced.
    """

    def __init__(self, data_dir: Path, keys: EncryptionKeys, known: Collection[str]) -> None:
        self.path = data_dir / SETTINGS_FILE
        super().__init__(str(self.path), keys, known)

    def stamp(self) -> str:
        """The stamp of the file and the key; takes no time."""
        file = stamp_of(self.path)
        return f"{file} {self._keys.stamp()}" if file else ""

    def read(self) -> StoredSettings:
        """The values; none of a damaged file."""
        try:
            return self._usable(self.all_entries())
        except (ConfigError, StorageError) as error:
            return StoredSettings({}, (str(error),))

    def entries(self, names: Collection[str]) -> Entries:
        """The entries of these settings; none of a damaged file."""
        entries = self._sound_entries() or {}
        return {name: entries.get(name) for name in names}

    def write(self, changes: Entries) -> None:
        """Set these entries, after renaming a damaged file."""
        with self.locked():
            self.replace({**(self._sound_entries() or {}), **changes})

    def replace(self, entries: Entries) -> None:
        """Replace the file atomically, after renaming a damaged one."""
        stored = {name: one for name, one in entries.items() if one is not None}
        text = json.dumps(stored, ensure_ascii=False, indent=2, sort_keys=True)
        with self.locked():
            is_damaged = self._sound_entries() is None
            with self._write_errors():
                if is_damaged:
                    self.path.replace(self._free_name())
                replace_private_text(self.path, f"{text}\n")

    def rotate(self) -> int:
        """Encrypt the secrets again; creates no file."""
        return super().rotate() if self.path.exists() else 0  # don't create the lock file

    def all_entries(self) -> Entries:
        """The contents of the file."""
        try:
            entries = json.loads(self.path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise StorageError(
                _("The settings file {path} can't be read ({strerror}): make it readable.").format(
                    path=self.path, strerror=error.strerror or error
                )
            ) from error
        except (ValueError, RecursionError):  # the cause could show the content
            entries = None
        if not isinstance(entries, dict):
            raise _DamagedFileError(
                _(
                    "The settings file {path} is damaged, so its settings are not used: correct"
                    " it, or set them again on the settings page. The first change there renames"
                    " the file to {name}."
                ).format(path=self.path, name=self._free_name().name)
            )
        return entries

    def _sound_entries(self) -> Entries | None:
        try:
            return self.all_entries()
        except _DamagedFileError:
            return None

    def _free_name(self) -> Path:
        """The name for a damaged file; it must not replace an earlier one."""
        names = (f"{DAMAGED_FILE}.{n}" for n in count(2))
        paths = map(self.path.with_name, chain([DAMAGED_FILE], names))
        return next(path for path in paths if not path.exists())

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock a file next to it."""
        with self._write_errors():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._lock.acquire()
        try:
            yield
        finally:
            self._lock.release()

    @cached_property
    def _lock(self) -> "FileLock":
        from filelock import FileLock  # loads asyncio; readers don't need it

        return FileLock(f"{self.path}.lock", timeout=_LOCK_TIMEOUT_S, mode=0o600)

    @contextmanager
    def _write_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:  # includes lock timeouts
            raise StorageError(
                _(
                    "The settings can't be written to {path} ({strerror}): grant write permission"
                    " to the user who runs Footnote, and check the free space."
                ).format(path=self.path, strerror=error.strerror or error)
            ) from error
