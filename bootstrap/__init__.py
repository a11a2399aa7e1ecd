"""Builds the services from the settings: the only place that knows which parts are in use."""

import logging
from contextlib import suppress
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING

from bootstrap.answering import Answering
from bootstrap.asking import AskingServices
from bootstrap.browsing import BrowsingServices
from bootstrap.cataloguing import CatalogueServices
from bootstrap.hosting import make_host_policy
from bootstrap.importing import SAMPLES
from bootstrap.parts import Parts
from bootstrap.proof import ProofServices
from bootstrap.serving import ServingServices
from bootstrap.tracing import postpone_client_types, stop_traces_without_destination
from domain import LOCAL_USER, Principal, SearchChoice, SearchMode
from errors import AppError
from settings import Settings, load_settings
from web.policy import HostPolicy

if TYPE_CHECKING:
    from services.chat import ChatService
    from services.conversations import ConversationService
    from services.evaluation import EvaluationService
    from services.imports import ImportService
    from services.lab import LabService
    from services.labels import LabelService
    from services.library import Library
    from services.maintenance import MaintenanceService
    from services.queue import ImportQueue
    from services.search import SearchService
    from services.turns import TurnService
    from services.worker import Worker

__all__ = [
    "SAMPLES",
    "Services",
    "build_services",
    "check_ledger",
    "interface_language",
    "page_host_policy",
]


def build_services(settings: Settings | None = None) -> "Services":
    """The services over the data folder of the settings, what a killed process left put right.

    From then on what this process writes is for its user alone (`storage.private_files`).

    Raises:
        ConfigError: A setting is wrong; it is named.
        StorageError: The data folder can't be used.
    """
    from loaders.formats.ocr import configure
    from storage.private_files import keep_private

    # Its notes on every oddity of a PDF would bury what matters.
    logging.getLogger("pypdf").setLevel(logging.ERROR)
    stop_traces_without_destination()
    postpone_client_types()
    settings = settings or load_settings()
    configure(settings.ocr_languages)
    keep_private(settings.data_dir)
    services = Services(settings)
    services.maintenance.recover()
    services.conversations.purge(datetime.now(UTC))
    services.remove_abandoned_boxes()
    return services


def check_ledger(settings: Settings) -> None:
    """Read the whole ledger, before anything is put right or written.

    Raises:
        DamagedLedgerError: Something is wrong with it; `findings` has it all.
        ConfigError: FOOTNOTE_DATABASE_URL is wrong.
    """
    from storage.database import check_ledger

    check_ledger(settings.data_dir, settings.database_url)


def interface_language() -> str:
    """What the settings say of the pages' language: `auto`, `en`, `ko` or `ja`.

    Raises:
        ConfigError: A setting is wrong; it is named.
    """
    return load_settings().language


def page_host_policy(bound: str) -> HostPolicy:
    """Which hosts and origins the pages are open to, served on the address `bound`.

    Raises:
        ConfigError: A setting is wrong; it is named.
    """
    return make_host_policy(load_settings(), bound)


class Services(
    AskingServices,
    ProofServices,
    CatalogueServices,
    BrowsingServices,
    ServingServices,
):
    """Every service, each built when it is first used: a command pays only for its own."""

    def __init__(self, settings: Settings) -> None:
        self._parts = Parts(settings)

    @cached_property
    def chat(self) -> "ChatService":
        """Questions and their answers."""
        from services.chat import ChatService
        from storage.conversations import Conversations
        from storage.documents import Documents

        return ChatService(
            Conversations(self._parts.database),
            Documents(self._parts.database),
            # Opening the page must not load what only a question needs.
            lambda *asked: self._answering.make_chain(*asked),
            self._parts.chat_choice,
            self._parts.default_search,
        )

    @cached_property
    def conversations(self) -> "ConversationService":
        """The list of conversations."""
        from services.conversations import ConversationService
        from storage.conversation_list import ConversationList
        from storage.conversations import Conversations

        database = self._parts.database
        return ConversationService(ConversationList(database), Conversations(database))

    @cached_property
    def turns(self) -> "TurnService":
        """The turns of conversations, as they were kept."""
        from services.turns import TurnService
        from storage.conversations import Conversations

        return TurnService(Conversations(self._parts.database))

    @cached_property
    def search(self) -> "SearchService":
        """Passages without an answer."""
        from services.search import SearchService
        from storage.documents import Documents

        return SearchService(
            self.library,
            Documents(self._parts.database),
            self._parts.settings.search_mode,
            self._parts.options,
            self._parts.reranking,
        )

    @cached_property
    def lab(self) -> "LabService":
        """One question through several search modes."""
        from services.lab import LabService

        return LabService(self.search)

    @cached_property
    def imports(self) -> "ImportService":
        """Imports of any source."""
        from loaders.formats import FORMATS_VERSION
        from services.imports import ImportService

        return ImportService(
            self._parts.database, self._parts.stores, self._parts.wanted, FORMATS_VERSION
        )

    @cached_property
    def queue(self) -> "ImportQueue":
        """Imports as jobs: asked for, steered and watched."""
        from bootstrap.working import make_queue

        return make_queue(
            self._parts.database, lambda on_progress: self.worker.run_next(on_progress)
        )

    @cached_property
    def worker(self) -> "Worker":
        """Does what is queued."""
        from bootstrap.working import make_worker

        return make_worker(self._parts.database, self)

    @cached_property
    def maintenance(self) -> "MaintenanceService":
        """Recovery, check, reindex."""
        from services.maintenance import MaintenanceService

        return MaintenanceService(self._parts.database, self._parts.stores, self._parts.wanted)

    @cached_property
    def library(self) -> "Library":
        """What was imported, as a whole."""
        from services.library import Library
        from storage.documents import Documents
        from storage.indexes import Indexes
        from storage.ledger_filter import LedgerFilter
        from storage.sources import Sources

        return Library(
            Documents(self._parts.database),
            Sources(self._parts.database),
            Indexes(self._parts.database),
            self._parts.stores,
            self.maintenance,
            self._parts.scripts_of,
            self._parts.is_calibrated,
            SAMPLES,
            LedgerFilter(self._parts.database),
            self._parts.embedding_notice,
        )

    @cached_property
    def evaluation(self) -> "EvaluationService":
        """Figures over labelled sets; vectors are kept by content, so a second run is quick."""
        from models.cached import CachedEmbeddings
        from models.embeddings import (
            build_embeddings,
            fingerprint,
            is_calibrated,
            known_scripts,
        )
        from services.evaluation import EvaluationService

        spec = self._parts.embedding_spec
        embeddings = build_embeddings(spec, self._parts.cache_dir)
        cached = CachedEmbeddings(
            embeddings, self._parts.cache_dir / "vectors.sqlite", fingerprint(spec)
        )
        return EvaluationService(
            cached,
            known_scripts(spec),
            is_calibrated(spec),
            self._parts.options,
            self._parts.settings.top_k,
            lambda keywords: self._answering.make_condenser(keywords.idf),
            lambda keywords: self._answering.make_extractive(
                keywords.idf, cached, knows_meaning=is_calibrated(spec)
            ),
            self._parts.reranking,
        )

    @cached_property
    def labels(self) -> "LabelService":
        """Which passages are right for which questions, and search measured by it."""
        from services.labels import LabelService
        from storage.documents import Documents
        from storage.indexes import Indexes
        from storage.labels import Labels
        from storage.passage_finder import PassageFinder
        from storage.sources import Sources

        documents = Documents(self._parts.database)
        finder = PassageFinder(self._parts.database, documents)
        labels, indexes = Labels(self._parts.database), Indexes(self._parts.database)
        sources = Sources(self._parts.database)
        return LabelService(labels, documents, finder, indexes, sources, self._found)

    def _found(
        self, principal: Principal, question: str, mode: SearchMode | None, k: int
    ) -> list[str]:
        found = self.search.search(principal, question, mode=mode, k=k)
        return [passage.id or "" for passage in found]

    def warm_up(self) -> None:
        """Load what the first question needs; for a thread beside the page.

        Sends no question anywhere; a server of one's own may be asked for its models.
        """
        with suppress(AppError):  # the question will meet it, and say so
            self._answering.make_chain(LOCAL_USER, SearchChoice(), "")
            index = self.library.indexes.active()
            if index and index.spec.embedding["provider"] == "builtin":
                self.search.search(LOCAL_USER, "ready", k=1, rerank=False)

    @cached_property
    def _answering(self) -> Answering:
        return Answering(self._parts, self.library, self.search, self)
