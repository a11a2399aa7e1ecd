"""Models, stores, and search options from the settings, each built on first use."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bootstrap.hosting import is_only_for_this_machine
from domain import SearchChoice
from domain.setting_values import secret_text, server_of
from domain.web.address_guard import AddressGuard, AllowedHosts
from domain.web.search_server import parse_node_urls
from loaders.split import SPLITTER_VERSION
from models.builtin_models import fallback_notice
from models.embedding_choice import EmbeddingSpec, build_embeddings, default_model, fingerprint
from models.openai_errors import OPENAI_URL
from settings import Settings
from storage.index_stores import IndexStores
from storage.ledger.database import Database, open_database
from storage.ledger.index_store import Engine, IndexSpec

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

    from models.chat_choice import ChatModelChoice, ChatSpec
    from retrievers.rerank import Reranking
    from services.catalog.place_search import EngineOptions
    from services.search.search_service import RankingOptions
    from storage.opensearch.connection import SearchServer
    from storage.opensearch.search_cluster import SearchCluster


class Parts:
    """The parts that services are built from."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._local_models: dict[EmbeddingSpec, Embeddings] = {}

    def reuse_models(self, earlier: "Parts") -> None:
        """Use the embedding models that `earlier` has loaded, if the same one is configured."""
        if earlier.embedding_spec == self.embedding_spec:
            self._local_models.update(earlier._local_models)

    @property
    def chat_spec(self) -> "ChatSpec":
        """The configured chat model."""
        from models.chat_choice import ChatSpec

        settings = self.settings
        return ChatSpec(
            model=(settings.chat_model or "").strip(),
            base_url=settings.openai_base_url,
            api_key=settings.openai_api_key,
            temperature=settings.chat_temperature,
            max_tokens=settings.chat_max_tokens or None,
            timeout_s=settings.chat_timeout_s,
            answer_timeout_s=settings.chat_answer_timeout_s,
            retries=settings.chat_retries,
            guard=self._guard(settings.openai_base_url),
        )

    @cached_property
    def chat_choice(self) -> "ChatModelChoice":
        """The choice of the chat model; raises ConfigError if its settings are invalid."""
        from models.chat_choice import ChatModelChoice

        embeds_there = self.settings.embedding_provider == "openai"
        others = [self.embedding_spec.model] if embeds_there else []
        return ChatModelChoice(self.chat_spec, others)

    @property
    def embedding_notice(self) -> str:
        """A notice about the default embedding, for people who did not configure one, or ""."""
        settings = self.settings
        is_default = settings.embedding_provider == "builtin" and not settings.embedding_model
        return fallback_notice() if is_default else ""

    @property
    def embedding_spec(self) -> EmbeddingSpec:
        """The configured embedding."""
        settings = self.settings
        return EmbeddingSpec(
            provider=settings.embedding_provider,
            model=settings.embedding_model or default_model(settings.embedding_provider),
            precision=settings.embedding_precision,
            path=settings.embedding_path,
            base_url=settings.embedding_base_url or settings.openai_base_url,
            dimensions=settings.embedding_dimensions,
            api_key=settings.embedding_api_key or settings.openai_api_key,
            guard=self._guard(settings.embedding_base_url or settings.openai_base_url),
        )

    def _guard(self, address: str | None) -> AddressGuard | None:
        """The guard for the address of a model's server; None if the environment sets it.

        While only this machine can open the pages, whoever enters an address there runs Footnote,
        and may use a server on this machine or in a private network.
        """
        settings = self.settings
        names = {"openai_base_url", "embedding_base_url"} - settings.stored_names
        if not address or address in {getattr(settings, name) for name in names}:
            return None
        allowed = AllowedHosts.parse(settings.allowed_private_hosts)
        return AddressGuard(allowed, permits_private=is_only_for_this_machine(settings))

    @cached_property
    def configured(self) -> IndexSpec:
        """The index for the current settings."""
        spec = self.embedding_spec
        return IndexSpec(
            embedding=spec.stored(),
            embedding_fingerprint=fingerprint(spec),
            splitter_version=SPLITTER_VERSION,
            size=self.settings.passage_chars,
            overlap=self.settings.passage_overlap_chars,
            engine=Engine.OPENSEARCH if self.settings.search_url else Engine.EMBEDDED,
        )

    @cached_property
    def options(self) -> "RankingOptions":
        """The parameters of the search modes."""
        from services.search.search_service import RankingOptions

        settings = self.settings
        return RankingOptions(
            settings.candidates,
            settings.dense_weight,
            settings.score_threshold,
            settings.normalisation,
        )

    @cached_property
    def catalog_options(self) -> "EngineOptions":
        """The parameters for ranking the places of catalogs."""
        from services.catalog.place_scores import PartWeights
        from services.catalog.place_search import EngineOptions

        settings = self.settings
        weights = PartWeights(
            settings.catalogue_hybrid_weight,
            settings.catalogue_confidence_weight,
            settings.catalogue_type_weight,
            settings.catalogue_cross_encoder_weight,
            settings.catalogue_aspects_weight,
        )
        return EngineOptions(
            weights,
            settings.catalogue_dense_weight,
            settings.catalogue_candidates,
            settings.catalogue_top_k,
        )

    @property
    def default_search(self) -> SearchChoice:
        """The search choice for questions without one from their caller or conversation."""
        settings = self.settings
        return SearchChoice(
            mode=settings.search_mode, k=settings.top_k, score_threshold=settings.score_threshold
        )

    @cached_property
    def reranking(self) -> "Reranking | None":
        """The reranker; None if none is configured."""
        if self.settings.rerank_provider == "none":
            return None
        from models.rerankers import RerankSpec, build_cross_encoder
        from retrievers.rerank import PAIRS_PER_BATCH, Reranking

        settings = self.settings
        spec = RerankSpec(
            provider=settings.rerank_provider,
            model=settings.rerank_model,
            path=settings.rerank_path,
            url=settings.rerank_url,
            api_key=settings.rerank_api_key,
            timeout_s=settings.rerank_budget_s,
        )
        cross_encoder = build_cross_encoder(spec, self.cache_dir)
        if cross_encoder is None:
            return None
        # A server takes all passages at once, because each further request adds a round trip.
        batch = settings.rerank_depth if spec.provider == "http" else PAIRS_PER_BATCH
        return Reranking(cross_encoder, settings.rerank_depth, settings.rerank_budget_s, batch)

    @cached_property
    def database(self) -> Database:
        """The ledger."""
        return open_database(self.settings.data_dir, self.settings.database_url)

    @cached_property
    def search_cluster(self) -> "SearchCluster | None":
        """The OpenSearch cluster with the library's indexes; None for the data folder."""
        return self._cluster(self.settings.search_index)

    @property
    def evaluation_cluster(self) -> "SearchCluster | None":
        """The same cluster with other names, for the indexes of labeled sets."""
        return self._cluster(f"{self.settings.search_index}-evaluation")

    def _cluster(self, alias: str) -> "SearchCluster | None":
        if not self.settings.search_url:
            return None
        from storage.opensearch.mapping import IndexOptions
        from storage.opensearch.search_cluster import SearchCluster

        settings = self.settings
        options = IndexOptions(
            settings.search_shards, settings.search_replicas, settings.search_analyzer
        )
        return SearchCluster(self._search_server(), alias, options)

    def _search_server(self) -> "SearchServer":
        from storage.opensearch.connection import SearchServer

        settings = self.settings
        return SearchServer(
            urls=tuple(parse_node_urls(settings.search_url)),
            user=settings.search_user,
            password=secret_text(settings.search_password),
            ca_file=settings.search_ca_file,
            aws_region=settings.search_aws_region,
            timeout_s=settings.search_timeout_s,
        )

    @cached_property
    def stores(self) -> IndexStores:
        """The stores of the indexes."""
        return IndexStores(self.settings.data_dir, self.embeddings_for, self.search_cluster)

    @property
    def cache_dir(self) -> Path:
        """The folder for models and vectors that can be downloaded or computed again."""
        return self.settings.data_dir / "cache"

    def embeddings_for(self, stored: Mapping[str, Any]) -> "Embeddings":
        """The embeddings that an index was built with, from their spec in the ledger."""
        spec = self._with_key(EmbeddingSpec(**stored))
        if spec.provider == "openai":
            return build_embeddings(spec, self.cache_dir)
        if spec not in self._local_models:
            self._local_models[spec] = build_embeddings(spec, self.cache_dir)
        return self._local_models[spec]

    def _with_key(self, built: EmbeddingSpec) -> EmbeddingSpec:
        """The spec of an index with the configured key, unless the key is for another server."""
        configured = self.embedding_spec
        if built.provider != "openai":
            return built
        if configured.provider == "openai" and fingerprint(configured) == fingerprint(built):
            return configured  # the same host and model, perhaps with another scheme or path
        address, guard = built.base_url or OPENAI_URL, self._guard(built.base_url)
        if server_of(address) == server_of(configured.base_url or OPENAI_URL):
            return replace(built, api_key=configured.api_key, guard=guard)
        return replace(built, base_url=address, is_earlier_server=True, guard=guard)
