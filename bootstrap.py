"""Builds the services from the settings: the only place that knows which parts are in use."""

import json
import logging
import threading
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from domain import EXTRACTIVE, LOCAL_USER, Principal, SearchMode
from errors import AppError
from settings import Settings, load_settings

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.language_models import BaseChatModel
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.runnables import Runnable

    from chains.answer import Answerer
    from chains.condense import Condenser
    from chains.conversational_retrieval import ConversationalRetrievalChain
    from chains.extractive import ExtractiveAnswerer
    from chains.follow_ups import Idf
    from models.chat import ChatSpec
    from models.embeddings import EmbeddingSpec
    from retrievers.rerank import Reranking
    from services.chat import ChatService
    from services.directories import DirectoryService
    from services.evaluation import EvaluationService
    from services.imports import ImportService
    from services.lab import LabService
    from services.labels import LabelService
    from services.library import Library
    from services.maintenance import MaintenanceService
    from services.ranking import RankingOptions
    from services.search import SearchService
    from storage.database import Database
    from storage.index_stores import IndexStores
    from storage.indexes import IndexSpec

SAMPLES = Path(__file__).parent / "sample_documents"


def build_services(settings: Settings | None = None) -> "Services":
    """The services over the data folder of the settings, what a killed process left put right.

    Raises:
        ConfigError: A setting is wrong; it is named.
        StorageError: The data folder can't be used.
    """
    # Its notes on every oddity of a PDF would bury what matters.
    logging.getLogger("pypdf").setLevel(logging.ERROR)
    services = Services(settings or load_settings())
    services.maintenance.recover()
    return services


class Services:
    """Every service, each built when it is first used: a command pays only for its own."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._making = threading.Lock()

    @cached_property
    def chat(self) -> "ChatService":
        """Questions, answers, conversations."""
        from services.chat import ChatService
        from storage.conversations import Conversations
        from storage.documents import Documents

        return ChatService(
            Conversations(self._database),
            Documents(self._database),
            self._make_chain,
            self._answers_are_signed(),
        )

    @cached_property
    def search(self) -> "SearchService":
        """Passages without an answer."""
        from services.search import SearchService
        from storage.documents import Documents

        return SearchService(
            self.library,
            Documents(self._database),
            self._settings.search_mode,
            self._options,
            self._reranking,
        )

    @cached_property
    def lab(self) -> "LabService":
        """One question through several search modes."""
        from services.lab import LabService

        return LabService(self.search)

    @cached_property
    def directories(self) -> "DirectoryService":
        """Imports of folders."""
        from services.directories import DirectoryService
        from storage.sources import Sources

        max_bytes = self._settings.max_file_mb * 1024 * 1024
        return DirectoryService(self.imports, Sources(self._database), SAMPLES, max_bytes)

    @cached_property
    def imports(self) -> "ImportService":
        """Imports of any source."""
        from loaders.formats import FORMATS_VERSION
        from services.imports import ImportService

        return ImportService(self._database, self._stores, self._wanted, FORMATS_VERSION)

    @cached_property
    def maintenance(self) -> "MaintenanceService":
        """Recovery, check, reindex."""
        from services.maintenance import MaintenanceService

        return MaintenanceService(self._database, self._stores, self._wanted)

    @cached_property
    def library(self) -> "Library":
        """What was imported, as a whole."""
        from services.library import Library
        from storage.documents import Documents
        from storage.indexes import Indexes
        from storage.sources import Sources

        return Library(
            Documents(self._database),
            Sources(self._database),
            Indexes(self._database),
            self._stores,
            self.maintenance,
            self._scripts_of,
            SAMPLES,
        )

    @cached_property
    def evaluation(self) -> "EvaluationService":
        """Figures over labelled sets; vectors are kept by content, so a second run is quick."""
        from models.cached import CachedEmbeddings
        from models.embeddings import build_embeddings, fingerprint, known_scripts
        from services.evaluation import EvaluationService

        spec = self._embedding_spec
        embeddings = build_embeddings(spec, self._cache_dir)
        cached = CachedEmbeddings(embeddings, self._cache_dir / "vectors.sqlite", fingerprint(spec))
        return EvaluationService(
            cached,
            known_scripts(spec),
            self._options,
            self._settings.top_k,
            lambda keywords: self._make_condenser(keywords.idf),
            lambda keywords: self._make_extractive(keywords.idf, embeddings),
        )

    @cached_property
    def labels(self) -> "LabelService":
        """Which passages are right for which questions, and search measured by it."""
        from services.labels import LabelService
        from storage.documents import Documents
        from storage.indexes import Indexes
        from storage.labels import Labels
        from storage.passage_finder import PassageFinder

        documents = Documents(self._database)
        finder = PassageFinder(self._database, documents)
        labels, indexes = Labels(self._database), Indexes(self._database)
        return LabelService(labels, documents, finder, indexes, self._found)

    def _found(
        self, principal: Principal, question: str, mode: SearchMode | None, k: int
    ) -> list[str]:
        found = self.search.search(principal, question, mode=mode, k=k)
        return [passage.id or "" for passage in found]

    def warm_up(self) -> None:
        """Load what the first question needs; for a thread beside the page. Sends nothing."""
        with suppress(AppError):  # the question will meet it, and say so
            self._make_chain(LOCAL_USER)
            index = self.library.indexes.active()
            if index and index.spec.embedding["provider"] == "builtin":
                self.search.search(LOCAL_USER, "ready", k=1, rerank=False)

    def _make_chain(self, principal: Principal) -> "ConversationalRetrievalChain":
        with self._making:  # two threads that import the same modules trip over each other
            return self._build_chain(principal)

    def _build_chain(self, principal: Principal) -> "ConversationalRetrievalChain":
        from chains.conversational_retrieval import ConversationalRetrievalChain

        index = self.library.open_index()
        idf = None if index is None else index.keywords.idf
        embeddings = None if index is None else index.passages.embeddings
        return ConversationalRetrievalChain(
            retriever=self._make_retriever(principal),
            condense=self._make_condenser(idf),
            answer=self._make_answerer(idf, embeddings),
            guard_rewrite=True,
            return_source_documents=True,
            return_generated_question=True,
            return_answer_message=True,
            max_tokens_limit=self._settings.passages_tokens,
            max_history_tokens=self._settings.history_tokens,
        )

    def _make_retriever(self, principal: Principal) -> "BaseRetriever":
        from retrievers.window import WindowRetriever

        settings = self._settings
        found = self.search.retriever(principal, k=settings.top_k, rephrase=self._rephrase)
        if not settings.window_passages:
            return found
        return WindowRetriever(
            base=found,
            neighbours=self.search.documents.neighbours,
            k=settings.top_k,
            passages=settings.window_passages,
            # No character takes more than a token: one window always fits.
            max_chars=settings.passages_tokens,
        )

    @property
    def _rephrase(self) -> "Runnable[str, list[str]] | None":
        from chains.rephrase import rephrase_with_model

        number = self._settings.multi_query
        return (
            rephrase_with_model(self._chat_model, number) if number and self._chat_model else None
        )

    def _make_condenser(self, idf: "Idf | None") -> "Condenser":
        from chains.condense import RuleCondenser, condense_with_model

        if self._chat_model:
            return condense_with_model(self._chat_model)
        return RuleCondenser(idf)

    def _make_answerer(self, idf: "Idf | None", embeddings: "Embeddings | None") -> "Answerer":
        from chains.answer import answer_with_model

        if self._chat_model:
            return answer_with_model(self._chat_model)
        return self._make_extractive(idf, embeddings)

    def _make_extractive(
        self, idf: "Idf | None", embeddings: "Embeddings | None"
    ) -> "ExtractiveAnswerer":
        from chains.extractive import ExtractiveAnswerer

        return ExtractiveAnswerer(idf=idf, embeddings=embeddings)

    def _answers_are_signed(self) -> str:
        """With what; wrong settings of the model are told now, loading it waits."""
        from models.chat import is_configured

        return self._chat_spec.model if is_configured(self._chat_spec) else EXTRACTIVE

    @cached_property
    def _chat_model(self) -> "BaseChatModel | None":
        from models.chat import build_chat_model

        return build_chat_model(self._chat_spec)

    @property
    def _chat_spec(self) -> "ChatSpec":
        from models.chat import ChatSpec

        settings = self._settings
        return ChatSpec(
            model=settings.chat_model or "",
            base_url=settings.openai_base_url,
            api_key=settings.openai_api_key,
            temperature=settings.chat_temperature,
            max_tokens=settings.chat_max_tokens,
            timeout_s=settings.chat_timeout_s,
            retries=settings.chat_retries,
        )

    @property
    def _embedding_spec(self) -> "EmbeddingSpec":
        from models.embeddings import EmbeddingSpec

        settings = self._settings
        return EmbeddingSpec(
            provider=settings.embedding_provider,
            model=settings.embedding_model,
            precision=settings.embedding_precision,
            path=settings.embedding_path,
            base_url=settings.embedding_base_url or settings.openai_base_url,
            dimensions=settings.embedding_dimensions,
            api_key=settings.embedding_api_key or settings.openai_api_key,
        )

    @cached_property
    def _wanted(self) -> "IndexSpec":
        from loaders.split import SPLITTER_VERSION
        from models.embeddings import fingerprint
        from storage.indexes import IndexSpec

        spec = self._embedding_spec
        return IndexSpec(
            embedding=json.loads(spec.to_json()),
            embedding_fingerprint=fingerprint(spec),
            splitter_version=SPLITTER_VERSION,
            size=self._settings.passage_chars,
            overlap=self._settings.passage_overlap_chars,
        )

    @cached_property
    def _options(self) -> "RankingOptions":
        from services.ranking import RankingOptions

        settings = self._settings
        return RankingOptions(
            settings.candidates,
            settings.dense_weight,
            settings.score_threshold,
            settings.normalisation,
        )

    @cached_property
    def _reranking(self) -> "Reranking | None":
        from models.rerankers import RerankSpec, build_cross_encoder
        from retrievers.rerank import PAIRS_PER_BATCH, Reranking

        settings = self._settings
        spec = RerankSpec(
            provider=settings.rerank_provider,
            model=settings.rerank_model,
            path=settings.rerank_path,
            url=settings.rerank_url,
            api_key=settings.rerank_api_key,
            timeout_s=settings.rerank_budget_s,
        )
        cross_encoder = build_cross_encoder(spec, self._cache_dir)
        if cross_encoder is None:
            return None
        # A server takes all passages at once; each request more would cost its way there.
        batch = settings.rerank_depth if spec.provider == "http" else PAIRS_PER_BATCH
        return Reranking(cross_encoder, settings.rerank_depth, settings.rerank_budget_s, batch)

    @cached_property
    def _database(self) -> "Database":
        from storage.database import open_database

        return open_database(self._settings.data_dir, self._settings.database_url)

    @cached_property
    def _stores(self) -> "IndexStores":
        from storage.index_stores import IndexStores

        return IndexStores(self._settings.data_dir, self._embeddings_for)

    @property
    def _cache_dir(self) -> Path:
        return self._settings.data_dir / "cache"

    def _embeddings_for(self, stored: Mapping[str, Any]) -> "Embeddings":
        from models.embeddings import build_embeddings

        return build_embeddings(self._as_spec(stored), self._cache_dir)

    def _scripts_of(self, stored: Mapping[str, Any]) -> frozenset[str] | None:
        from models.embeddings import known_scripts

        return known_scripts(self._as_spec(stored))

    def _as_spec(self, stored: Mapping[str, Any]) -> "EmbeddingSpec":
        from models.embeddings import EmbeddingSpec

        return EmbeddingSpec.from_json(json.dumps(stored), self._embedding_spec.api_key)
