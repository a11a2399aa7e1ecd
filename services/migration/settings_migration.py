"""Moves the stored settings together with the ledger."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from domain.setting_values import CHANGEABLE
from storage.ledger.database import Database
from storage.ledger.ledger_location import LedgerLocation
from storage.ledger.secret_store import EncryptionKeys
from storage.settings_file import SettingsFile
from storage.settings_table import SettingsTable


@contextmanager
def carried_settings(
    data_dir: Path, database: Database, old: LedgerLocation, new: LedgerLocation
) -> Iterator[None]:
    """Bring the stored settings to where they belong; nobody changes them during the block.

    On the way to PostgreSQL, they are put into the table of the old ledger, whose rows are copied
    in the block. On the way back, they are put into the file, which is not used before the end.

    Args:
        data_dir: The folder of the settings file.
        database: The old ledger.
        old: Where it is.
        new: Where it will be.

    Raises:
        ConfigError: The settings file is damaged.
        StorageError: The settings can't be read or written.
    """
    keys = EncryptionKeys(data_dir)
    file = SettingsFile(data_dir, keys, CHANGEABLE)
    table = SettingsTable(database, keys, CHANGEABLE)
    with table.locked() if old.is_on_server else file.locked():
        if old.is_on_server and not new.is_on_server:
            file.replace(table.all_entries())
        elif new.is_on_server and not old.is_on_server:
            table.replace(file.all_entries())
        yield
