"""A library in a folder with a fake embedding, and a loader of documents set by the test."""

import hashlib
import shutil
import socket
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar

import pytest
from langchain_core.documents import Document

from domain import LOCAL_USER, NEVER_IMPORTED, DocumentRef, Skipped
from domain.errors import UnreadableError
from loaders.split import SPLITTER_VERSION
from services.access import Access
from services.imports.import_service import ImportService
from services.imports.index_writer import IndexWriter
from services.imports.maintenance import MaintenanceService
from services.long_work import ignore, never
from storage.index_stores import IndexStores
from storage.ledger.document_store import Documents
from storage.ledger.import_leases import ImportLeases
from storage.ledger.import_store import Imports
from storage.ledger.index_store import Engine, Indexes, IndexSpec
from storage.ledger.restriction_store import Restrictions
from storage.ledger.source_store import Sources
from tests.fakes.audit import audit_of
from tests.fakes.models import HashingEmbeddings
from tests.postgresql.ledgers import LEDGERS, open_ledger

DEAD = f"{socket.gethostname()}/999999999/dead"
"""The name of a process that has exited."""


def version_of(text):
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass
class DictLoader:
    """Documents by key; `broken` keys cannot be read, `hidden` keys cannot be listed, and
    `foreign` ones are skipped."""

    reads_without_listing: ClassVar[bool] = True

    texts: dict = field(default_factory=dict)
    broken: dict = field(default_factory=dict)
    hidden: dict = field(default_factory=dict)
    reads: list = field(default_factory=list)
    foreign: dict = field(default_factory=dict)

    def list(self, before=NEVER_IMPORTED):
        for key, reason in self.hidden.items():
            yield Skipped(key, f"/docs/{key}", reason)
        for key, reason in self.foreign.items():
            yield Skipped(key, f"/docs/{key}", reason, is_error=False)
        for key, text in sorted(self.texts.items()):
            if not key.startswith(tuple(self.hidden) or "\0"):
                yield DocumentRef(key, version_of(text), f"/docs/{key}")

    def read(self, ref):
        self.reads.append(ref.key)
        if ref.key in self.broken:
            raise UnreadableError(self.broken[ref.key])
        metadata = {"title": ref.key.rpartition("/")[2], "format": "txt", "encoding": "utf-8"}
        return Document(page_content=self.texts[ref.key], metadata=metadata)


class Library:
    """The services over one data folder, wired as in bootstrap."""

    def __init__(
        self, data_dir: Path, *, size=200, overlap=40, model="hashing", formats=1, cluster=None
    ):
        self.embeddings = HashingEmbeddings()
        self.requested_models = []
        engine = Engine.EMBEDDED if cluster is None else Engine.OPENSEARCH
        self.index_spec = IndexSpec(
            {"model": model}, model, SPLITTER_VERSION, size, overlap, engine
        )
        self.data_dir = data_dir
        self.database = open_ledger(data_dir)
        self.stores = IndexStores(data_dir, self._embeddings_for, cluster)
        self.documents = Documents(self.database)
        self.indexes = Indexes(self.database)
        self.import_store = Imports(self.database)
        self.leases = ImportLeases(self.database)
        self.sources = Sources(self.database)
        self.source = self.sources.ensure("directory", "/docs", name="docs")
        self.access = Access(self.sources, Restrictions(self.database))
        self.audit = audit_of(self.database)
        self.imports = ImportService(
            self.database, self.access, self.stores, self.index_spec, formats
        )
        self.maintenance = MaintenanceService(self.database, self.stores, self.index_spec)

    def _embeddings_for(self, embedding):
        self.requested_models.append(embedding["model"])
        return self.embeddings

    def load(self, loader, **options):
        return self.imports.run(LOCAL_USER, options.pop("source", self.source), loader, **options)

    def check(self):
        return self.maintenance.check(LOCAL_USER)

    def reindex(self, on_progress=ignore, interrupted=never):
        """The report; None if `interrupted` returned True after a batch, which ended the work."""

        def report(progress):
            on_progress(progress)
            if interrupted():
                raise KeyboardInterrupt

        with suppress(KeyboardInterrupt):
            return self.maintenance.reindex(LOCAL_USER, on_progress=report)

    def interrupt_reindex(self, monkeypatch):
        """Begin a reindex that is interrupted before it writes anything."""

        def interrupt(*_):
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(IndexWriter, "add", interrupt)
            with pytest.raises(KeyboardInterrupt):
                self.maintenance.reindex(LOCAL_USER)

    @property
    def active(self):
        return self.stores.open(self.indexes.active())

    def texts(self):
        """The text of every document of the source, by key."""
        known = self.documents.versions(self.source.id)
        return {key: self.documents.text(version.document_id) for key, version in known.items()}


def filled_library(data_dir: Path, texts: Mapping[str, str]) -> Library:
    """A library with these documents by key, reopened after their import.

    Only the first one with the same documents imports them; others are copies. On PostgreSQL, each
    imports them.
    """
    if LEDGERS.server is None:
        shutil.copytree(_filled(tuple(texts.items())).name, data_dir, dirs_exist_ok=True)
    else:
        Library(data_dir).load(DictLoader(dict(texts)))
    return Library(data_dir)


@cache
def _filled(texts: tuple[tuple[str, str], ...]) -> TemporaryDirectory:
    folder = TemporaryDirectory()
    library = Library(Path(folder.name))
    library.load(DictLoader(dict(texts)))
    library.database.close()
    return folder
