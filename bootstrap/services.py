"""The container of all services, each built on first use."""

from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from bootstrap.administration_services import AdministrationServices
from bootstrap.import_services import SAMPLES
from domain import LOCAL_USER, SearchChoice
from domain.errors import AppError
from storage.ledger.conversation_link_store import ConversationLinks
from storage.ledger.document_list_store import DocumentList, Titles
from storage.ledger.feedback_store import Labels, Ratings
from storage.ledger.import_store import Failures
from storage.ledger.passage_finder import LedgerFilter, PassageFinder, Reading
from storage.ledger.people_store import People
from storage.ledger.place_store import Places

# Services are imported where they are built, so that commands and pages load only what they use.
if TYPE_CHECKING:
    from services.account_export import AccountExport
    from services.api_key_service import ApiLimits
    from services.catalog.catalog_imports import CatalogImports
    from services.catalog.catalog_service import CatalogService
    from services.catalog.preferences import PeopleService
    from services.chat.chain_builder import ChainBuilder
    from services.chat.chat_service import ChatService
    from services.chat.conversation_service import CostService, TurnService
    from services.chat.sharing_service import SharingService
    from services.evaluation.evaluation_service import EvaluationService
    from services.evaluation.label_service import LabelService
    from services.evaluation.rating_service import RatingService
    from services.library.document_service import DocumentService, FailureService
    from services.library.reader_service import DocumentReader
    from services.search.embedding_service import EmbeddingService
    from services.search.lab_service import LabService
    from services.search.relevance_service import RelevanceService
    from services.search.search_scope import ChoiceService
    from services.search.search_service import SearchService
    from services.search.searchable_library import Library
    from services.search.suggestion_service import SuggestionService
    from services.status_service import StatusService

SAMPLE_CATALOG = Path(__file__).parents[1] / "samples" / "catalogs" / "restaurants"


class Services(AdministrationServices):
    """All services on one data folder."""

    @cached_property
    def chat(self) -> "ChatService":
        """Answers questions in conversations."""
        from bootstrap.agent_builder import AgentBuilder
        from services.chat.chat_service import ChatService

        models = self.parts.chat_choice
        return ChatService(
            self._conversations,
            self._documents,
            self.access,
            self.chains,
            AgentBuilder(self.parts.settings, models, self),
            models,
            self.parts.default_search,
            self.question_limit,
        )

    @cached_property
    def chains(self) -> "ChainBuilder":
        """Builds a chain for each question."""
        from services.chat.chain_builder import ChainBuilder, ChainOptions

        settings = self.parts.settings
        return ChainBuilder(
            self.parts.chat_choice,
            self.library,
            self.search,
            Titles(self._database),
            self.suggestions,
            ChainOptions(
                settings.top_k,
                settings.passages_tokens,
                settings.history_tokens,
                settings.window_passages,
                settings.multi_query,
                settings.chat_answer_timeout_s,
            ),
        )

    @cached_property
    def turns(self) -> "TurnService":
        """The stored turns of conversations."""
        from services.chat.conversation_service import TurnService

        return TurnService(self._conversations, self.access)

    @cached_property
    def sharing(self) -> "SharingService":
        """Shares conversations by links."""
        from services.chat.sharing_service import SharingService

        return SharingService(
            self._conversation_links, self.access, self._accounts, self.parts.settings.public_url
        )

    @cached_property
    def _conversation_links(self) -> ConversationLinks:
        return ConversationLinks(self._database)

    @property
    def costs(self) -> "CostService":
        """Tokens and cost of answers, at the prices of the current model."""
        from services.chat.conversation_service import CostService

        settings, model = self.parts.settings, self.parts.chat_choice.current().label
        return CostService(
            model, settings.chat_price_input, settings.chat_price_output, settings.currency
        )

    @cached_property
    def search(self) -> "SearchService":
        """Searches for passages."""
        from services.search.search_service import SearchService

        return SearchService(
            self.library,
            self.parts.settings.search_mode,
            self.parts.options,
            self.parts.reranking,
        )

    @cached_property
    def library(self) -> "Library":
        """The size, notices, and index of the library."""
        from services.search.searchable_library import Library

        return Library(
            self._documents,
            self.access,
            self._indexes,
            self.parts.stores,
            self.maintenance,
            SAMPLES,
            LedgerFilter(self._database),
            self.parts.embedding_notice,
        )

    @cached_property
    def lab(self) -> "LabService":
        """Compares search modes on one question."""
        from services.search.lab_service import LabService

        return LabService(self.search)

    @cached_property
    def choices(self) -> "ChoiceService":
        """The choices for narrowing a search."""
        from services.search.search_scope import ChoiceService

        return ChoiceService(
            DocumentList(self._database),
            self.access,
            self.parts.default_search,
        )

    @cached_property
    def suggestions(self) -> "SuggestionService":
        """Suggests questions about the library."""
        from services.search.suggestion_service import SuggestionService

        return SuggestionService(DocumentList(self._database), self.access, SAMPLES)

    @cached_property
    def relevance(self) -> "RelevanceService":
        """Explains answers without evidence, and how to widen their search."""
        from services.search.relevance_service import RelevanceService

        return RelevanceService(self.search, self.parts.default_search)

    @cached_property
    def embedding(self) -> "EmbeddingService":
        """Embeds texts of API clients."""
        from services.search.embedding_service import EmbeddingService

        parts, spec = self.parts, self.parts.configured.embedding
        return EmbeddingService(self._indexes, parts.stores, spec, parts.embeddings_for(spec))

    @cached_property
    def documents(self) -> "DocumentService":
        """Lists, removes, and reimports documents."""
        from services.library.document_service import DocumentService

        return DocumentService(
            self._database, self.access, self._indexes, self.queue, self.uploads, self.audit
        )

    @cached_property
    def failures(self) -> "FailureService":
        """Unreadable documents."""
        from services.library.document_service import FailureService

        return FailureService(Failures(self._database), self.access, self.queue)

    @cached_property
    def reader(self) -> "DocumentReader":
        """Shows documents around a passage."""
        from services.library.reader_service import DocumentReader

        return DocumentReader(
            self._documents, self.access, Reading(self._database), self._conversations
        )

    @cached_property
    def evaluation(self) -> "EvaluationService":
        """Measures with labeled sets; vectors are cached by content, so a second run is fast."""
        from models.cached import CachedEmbeddings
        from models.embedding_choice import build_embeddings, fingerprint
        from services.evaluation.evaluation_service import EvaluationService

        parts, spec = self.parts, self.parts.embedding_spec
        file = parts.cache_dir / "vectors.sqlite"
        embeddings = build_embeddings(spec, parts.cache_dir)
        return EvaluationService(
            CachedEmbeddings(embeddings, file, fingerprint(spec)),
            spec,
            parts.options,
            parts.settings.top_k,
            self.chains,
            parts.configured,
            parts.evaluation_cluster,
            parts.reranking,
        )

    @cached_property
    def labels(self) -> "LabelService":
        """Labels of passages for questions, and search quality measured with them."""
        from services.evaluation.label_service import LabelService

        labels, finder = Labels(self._database), PassageFinder(self._database, self._documents)
        return LabelService(
            labels, self._documents, finder, self._indexes, self.access, self.search
        )

    @cached_property
    def ratings(self) -> "RatingService":
        """Ratings of answers."""
        from services.evaluation.rating_service import RatingService

        return RatingService(Ratings(self._database), self.labels, self.chat)

    @cached_property
    def catalog(self) -> "CatalogService":
        """Answers questions about catalogs, and lists their places."""
        from services.catalog.catalog_service import CatalogService
        from services.catalog.catalogs import Catalogs
        from services.catalog.place_search import SearchEngine

        parts, places = self.parts, Places(self._database)
        return CatalogService(
            Catalogs(self.access, places, self._documents),
            self.people,
            SearchEngine(
                self.library, self._documents, places, parts.catalog_options, parts.reranking
            ),
            parts.chat_choice,
            parts.settings.chat_answer_timeout_s,
            self.question_limit,
        )

    @cached_property
    def people(self) -> "PeopleService":
        """The preferences of people."""
        from services.catalog.preferences import PeopleService

        return PeopleService(People(self._database), self.access)

    @cached_property
    def catalog_imports(self) -> "CatalogImports":
        """Adds and imports catalogs."""
        from services.catalog.catalog_imports import CatalogImports

        return CatalogImports(
            self.sources, self.source_kinds, self.queue, self.imports, SAMPLE_CATALOG
        )

    @cached_property
    def account_export(self) -> "AccountExport":
        """Exports what is stored about accounts."""
        from services.account_export import AccountExport

        return AccountExport(
            self._accounts,
            self.conversations,
            self.ratings,
            self.labels,
            People(self._database),
            self._api_keys,
            self._conversation_links,
            self.audit,
        )

    @property
    def api_limits(self) -> "ApiLimits":
        """The limits of one API process."""
        from services.api_key_service import ApiLimits

        settings = self.parts.settings
        origins = (origin.strip() for origin in settings.api_cors_origins.split(","))
        return ApiLimits(
            settings.api_requests_per_minute,
            settings.api_answers,
            settings.max_file_mb * 1024 * 1024,
            tuple(origin for origin in origins if origin),
        )

    @cached_property
    def status(self) -> "StatusService":
        """The state of the installation, for operators."""
        from services.status_service import StatusService
        from storage.ledger.import_leases import Workers
        from storage.ledger.import_queue_store import ImportRuns

        return StatusService(
            self.maintenance,
            self.access,
            ImportRuns(self._database),
            self._conversations,
            Workers(self._database),
            self.parts.settings.data_dir,
        )

    def warm_up(self) -> None:
        """Load what the first question needs; call it in a background thread.

        This sends no question, but may query a self-hosted server for its list of models.
        """
        with suppress(AppError):  # the first question will report it
            index = self.library.indexes.active()
            if index and index.spec.embedding["provider"] == "builtin":
                self.search.search(LOCAL_USER, "ready", k=1, rerank=False)
            self._warm_up_catalogs()
            self.chains.build(LOCAL_USER, SearchChoice(), "")  # the places page does not use it

    def _warm_up_catalogs(self) -> None:
        """Build the rules that analyze questions about catalogs, if there are any."""
        if self.library.has_catalogs(LOCAL_USER):
            for catalog in self.catalog.catalogs(LOCAL_USER):
                self.catalog.find(LOCAL_USER, catalog.id)
