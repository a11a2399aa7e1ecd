"""A small handbook, and libraries that are copied from one into which it was imported."""

import os
import shutil
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import bootstrap
from bootstrap.parts import Parts
from bootstrap.services import Services
from settings import Settings
from storage.ledger.ledger_location import FILE

HANDBOOK = {
    "leave.md": "# Leave policy\n\n## Annual leave\n\nNew employees get 25 days of annual "
    "leave a year. Unused days lapse on 31 March.\n\n## Sick leave\n\nTell your lead "
    "before ten o'clock.\n",
    "vpn.md": "# VPN\n\nInstall WireGuard and choose the Bristol gateway.\n",
    "휴가.md": "# 휴가 규정\n\n신규 입사자는 첫해에 연차 15일을 받습니다. "
    "2년차부터는 16일입니다.\n",
    "休暇.md": "# 休暇規程\n\n新入社員には年次有給休暇が12日付与されます。\n",
}

MODIFIED_NS = time.time_ns()
"""When the files were last modified, which libraries record."""

Fill = Callable[[Services], object]


def write_handbook(folder: Path) -> None:
    """Write the handbook to a new folder."""
    folder.mkdir()
    for name, text in HANDBOOK.items():
        (folder / name).write_text(text, encoding="utf-8")
        os.utime(folder / name, ns=(MODIFIED_NS, MODIFIED_NS))


def is_handbook(folder: Path) -> bool:
    """Whether the folder contains the handbook without changes."""
    texts = {path.name: path.is_file() and path.read_bytes() for path in folder.iterdir()}
    return texts == {name: text.encode() for name, text in HANDBOOK.items()}


@dataclass(frozen=True)
class Library:
    """A filled library, which no services use anymore, and the address of its embedding."""

    data_dir: Path
    address: str


class ImportedLibraries:
    """The libraries of a process, with one for each kind of contents and index.

    Ids of documents depend on the folder that they are imported from. Therefore, all tests of a
    process write their documents to the same folder.
    """

    def __init__(self, folder: Path, model_cache: Path) -> None:
        self._folder = folder
        self._model_cache = model_cache
        self._libraries: dict[str, Library] = {}

    def build(self, settings: Settings, contents: str, fill: Fill) -> Services:
        """Services over a new library with these contents, which `fill` imports.

        Only the first library with the same contents and index is filled; others are copies, unless
        the ledger is elsewhere.
        """
        if settings.database_url:
            services = bootstrap.build_services(settings)
            fill(services)
            return services
        self._copy(self._library(settings, contents, fill), settings)
        return bootstrap.build_services(settings)

    def _copy(self, library: Library, settings: Settings) -> None:
        shutil.copytree(
            library.data_dir,
            settings.data_dir,
            ignore=shutil.ignore_patterns("cache"),
            dirs_exist_ok=True,
        )
        addresses = (library.address, _embedding_address(settings))
        if all(addresses):
            with closing(sqlite3.connect(settings.data_dir / FILE)) as ledger, ledger:
                for column in ("spec", "fingerprint"):
                    ledger.execute(
                        f"UPDATE indexes SET {column} = replace({column}, ?, ?)", addresses
                    )

    def _library(self, settings: Settings, contents: str, fill: Fill) -> Library:
        address = _embedding_address(settings)
        kind = f"{contents}, {Parts(settings).configured}".replace(address, "")
        if kind not in self._libraries:
            data_dir = self._folder / str(len(self._libraries))
            self._fill(settings.model_copy(update={"data_dir": data_dir}), fill)
            self._libraries[kind] = Library(data_dir, address)
        return self._libraries[kind]

    def _fill(self, settings: Settings, fill: Fill) -> None:
        settings.data_dir.mkdir()
        (settings.data_dir / "cache").symlink_to(self._model_cache)
        fill(bootstrap.build_services(settings))
        with closing(sqlite3.connect(settings.data_dir / FILE)) as ledger:
            ledger.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _embedding_address(settings: Settings) -> str:
    """Host and port of the server, which differ between tests; "" if there is none."""
    return urlsplit(Parts(settings).embedding_spec.base_url or "").netloc


def is_new(settings: Settings) -> bool:
    """Whether the library does not exist yet, and all of it will be in the data folder."""
    is_elsewhere = settings.database_url or settings.search_url
    return not is_elsewhere and not (settings.data_dir / FILE).exists()
