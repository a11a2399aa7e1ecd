"""Builds the services from the settings; no other package chooses classes.

`Services` has all services, and `Parts` the models and stores that the settings select; both are
built on first use. The pages, the API, the command line, and the tests import this package.
"""

import logging
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from bootstrap.hosting import make_host_policy, note_pages_address
from bootstrap.import_services import SAMPLES
from bootstrap.latest_services import LatestServices
from bootstrap.services import Services
from bootstrap.sign_in import streamlit_secrets
from bootstrap.stored_settings import (
    current_settings,
    location_in_environment,
    location_of,
    log_ignored_entries,
    replace_lost_key,
    require_key_at_start,
    require_library_key,
    settings_at_start,
    settings_stamp,
    stamped_settings,
)
from bootstrap.tracing import (
    postpone_client_types,
    start_traces,
    stop_traces_without_destination,
)
from domain.errors import StorageError
from domain.logs import configure_logs, hide_secrets, url_password
from domain.web.host_policy import HostPolicy
from loaders.formats.ocr import configure
from settings import Settings, secret_values
from storage.data_folder import keep_private, require_data_folder

if TYPE_CHECKING:
    from services.migration.ledger_migration import LedgerMigration

__all__ = [
    "SAMPLES",
    "LatestServices",
    "Services",
    "build_services",
    "check_ledger",
    "current_settings",
    "following",
    "interface_language",
    "ledger_migration",
    "location_in_environment",
    "page_host_policy",
    "replace_lost_key",
    "require_key_at_start",
    "settings_at_start",
    "streamlit_secrets",
]


def build_services(
    settings: Settings | None = None,
    *,
    data_dir: Path | None = None,
    database_url: str | None = None,
    must_exist: bool = False,
) -> Services:
    """Build the services on the data folder, and recover from killed processes.

    From then on, only the current user can read files that this process writes
    (`storage.data_folder`).

    Args:
        settings: Default: the current ones.
        data_dir: The data folder of the current settings, instead of that of the environment.
        database_url: The URL of their ledger, instead of that of the environment.
        must_exist: Whether to raise an error instead of creating the data folder.

    Raises:
        ConfigError: A setting is invalid; the message names it.
        StorageError: The data folder or the database can't be used.
    """
    # Their warnings about minor PDF defects and repeated requests would bury important messages.
    for library in ("pypdf", "opensearch"):
        logging.getLogger(library).setLevel(logging.ERROR)
    stop_traces_without_destination()
    postpone_client_types()
    if settings is None:
        chosen = {"data_dir": data_dir, "database_url": database_url}
        overrides = {name: one for name, one in chosen.items() if one is not None}
        settings, stamp = stamped_settings(**overrides)
        _configure_logs(settings)
        log_ignored_entries(**overrides)
    else:
        stamp = settings_stamp(location_of(settings))
        _configure_logs(settings)
    if must_exist and settings.database_url is None:
        require_data_folder(settings.data_dir)
    require_library_key(location_of(settings))
    configure(settings.ocr_languages)
    keep_private(settings.data_dir)
    services = Services(settings, stamp)
    services.maintenance.recover()
    services.housekeeping.run(datetime.now(UTC))
    return services


def following(services: Services) -> LatestServices:
    """These services until the stored settings change, and then others on the same data folder."""
    location = location_of(services.parts.settings)
    return LatestServices(partial(build_services, **location.overrides), location, services)


def check_ledger(settings: Settings) -> None:
    """Check the whole ledger, without recovery or writing.

    Raises:
        DamagedLedgerError: The ledger is damaged; `findings` lists all problems.
        ConfigError: FOOTNOTE_DATABASE_URL is invalid.
    """
    from storage.ledger.database import check_ledger

    check_ledger(settings.data_dir, settings.database_url)


def ledger_migration(settings: Settings, new_url: str | None) -> "LedgerMigration":
    """A move of the ledger to another database; None is the file in the data folder.

    Raises:
        ConfigError: A URL names neither an SQLite file nor a PostgreSQL database, or the driver
            is not installed.
        StorageError: There is no data folder.
    """
    from services.migration.ledger_migration import LedgerMigration

    _configure_logs(settings)
    hide_secrets([url_password(new_url or "")])
    if settings.database_url is None:
        require_data_folder(settings.data_dir)
    keep_private(settings.data_dir)
    return LedgerMigration(settings.data_dir, settings.database_url, new_url)


def interface_language() -> str:
    """The configured language of the pages: `auto`, `en`, `ko` or `ja`.

    While a database can't be reached, it is that of the environment.

    Raises:
        ConfigError: A setting is invalid; the message names it.
        StorageError: The ledger in the data folder can't be opened.
    """
    try:
        return current_settings().language
    except StorageError:
        return settings_at_start().language


def page_host_policy(bound: str) -> HostPolicy:
    """The allowed hosts and origins of the page server, which listens on the address `bound`.

    Private servers of models can then be entered on the pages only if `bound` is loopback.

    Raises:
        ConfigError: A setting is invalid; the message names it.
    """
    settings = settings_at_start()
    _configure_logs(settings)  # the server logs before the services are built
    note_pages_address(bound)
    return make_host_policy(settings, bound)


def _configure_logs(settings: Settings) -> None:
    configure_logs(settings.log_level, settings.log_format, secret_values(settings))
    start_traces()
