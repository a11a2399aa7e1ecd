"""What the settings choose: models, stores, and how search is tuned; each made when first used."""

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from domain import EXTRACTIVE, SearchChoice
from settings import Settings

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.language_models import BaseChatModel

    from catalog.search_engine import EngineOptions
    from models.chat import ChatSpec
    from models.chat_choice import ChatModelChoice
    from models.embeddings import EmbeddingSpec
    from retrievers.rerank import Reranking
    from services.ranking import RankingOptions
    from storage.database import Database
    from storage.index_stores import IndexStores
    from storage.indexes import IndexSpec


class AnsweringModel(NamedTuple):
    """A chat model, None for the built-in answerer, and what its answers are signed with."""

    model: "BaseChatModel | None"
    label: str


class Parts:
    """The parts that services are built from."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    @cached_property
    def chat_choice(self) -> "ChatModelChoice":
        """Which chat model answers; ConfigError now where the settings are wrong."""
        from models.chat_choice import ChatModelChoice

        embeds_there = self.settings.embedding_provider == "openai"
        others = [self.embedding_spec.model] if embeds_there else []
        return ChatModelChoice(self.chat_spec, others)

    @property
    def chat_model(self) -> "BaseChatModel | None":
        """The chat model, which may have to be asked for first; None where none answers."""
        return self.answering_model.model

    @property
    def answering_model(self) -> AnsweringModel:
        """What answers a question that is asked now, and what its answers are signed with."""
        label = self.chat_choice.settled().label
        return AnsweringModel(None if label == EXTRACTIVE else self._chosen_model, label)

    @cached_property
    def _chosen_model(self) -> "BaseChatModel | None":
        """The model that was chosen: for this process there is no other."""
        from models.chat import build_chat_model

        return build_chat_model(replace(self.chat_spec, model=self.chat_choice.settled().label))

    @property
    def chat_spec(self) -> "ChatSpec":
        """Which chat model is set."""
        from models.chat import ChatSpec

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
        )

    @property
    def embedding_notice(self) -> str:
        """What a person should know about the embedding that the settings leave to Footnote."""
        from models.builtin_models import fallback_notice

        settings = self.settings
        is_default = settings.embedding_provider == "builtin" and not settings.embedding_model
        return fallback_notice() if is_default else ""

    @property
    def embedding_spec(self) -> "EmbeddingSpec":
        """Which embedding is set."""
        from models.embeddings import EmbeddingSpec, default_model

        settings = self.settings
        return EmbeddingSpec(
            provider=settings.embedding_provider,
            model=settings.embedding_model or default_model(settings.embedding_provider),
            precision=settings.embedding_precision,
            path=settings.embedding_path,
            base_url=settings.embedding_base_url or settings.openai_base_url,
            dimensions=settings.embedding_dimensions,
            api_key=settings.embedding_api_key or settings.openai_api_key,
        )

    @cached_property
    def wanted(self) -> "IndexSpec":
        """The index that the settings ask for."""
        from loaders.split import SPLITTER_VERSION
        from models.embeddings import fingerprint
        from storage.indexes import IndexSpec

        spec = self.embedding_spec
        return IndexSpec(
            embedding=json.loads(spec.to_json()),
            embedding_fingerprint=fingerprint(spec),
            splitter_version=SPLITTER_VERSION,
            size=self.settings.passage_chars,
            overlap=self.settings.passage_overlap_chars,
        )

    @cached_property
    def options(self) -> "RankingOptions":
        """How the search modes are tuned."""
        from services.ranking import RankingOptions

        settings = self.settings
        return RankingOptions(
            settings.candidates,
            settings.dense_weight,
            settings.score_threshold,
            settings.normalisation,
        )

    @cached_property
    def catalogue_options(self) -> "EngineOptions":
        """How the places of catalogues are ranked."""
        from catalog.scores import PartWeights
        from catalog.search_engine import EngineOptions

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
        """How a question is searched where neither it nor its conversation says."""
        settings = self.settings
        return SearchChoice(
            mode=settings.search_mode, k=settings.top_k, score_threshold=settings.score_threshold
        )

    @cached_property
    def reranking(self) -> "Reranking | None":
        """The reranker; None where none is set."""
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
        # A server takes all passages at once; each request more would cost its way there.
        batch = settings.rerank_depth if spec.provider == "http" else PAIRS_PER_BATCH
        return Reranking(cross_encoder, settings.rerank_depth, settings.rerank_budget_s, batch)

    @cached_property
    def database(self) -> "Database":
        """The ledger."""
        from storage.database import open_database

        return open_database(self.settings.data_dir, self.settings.database_url)

    @cached_property
    def stores(self) -> "IndexStores":
        """The folders of the indexes."""
        from storage.index_stores import IndexStores

        return IndexStores(self.settings.data_dir, self.embeddings_for)

    @property
    def cache_dir(self) -> Path:
        """Where models and vectors that can be made again are kept."""
        return self.settings.data_dir / "cache"

    def embeddings_for(self, stored: Mapping[str, Any]) -> "Embeddings":
        """The embeddings an index was made with."""
        from models.embeddings import build_embeddings

        return build_embeddings(self._as_spec(stored), self.cache_dir)

    def scripts_of(self, stored: Mapping[str, Any]) -> frozenset[str] | None:
        """The scripts that they read; None reads all."""
        from models.embeddings import known_scripts

        return known_scripts(self._as_spec(stored))

    def is_calibrated(self, stored: Mapping[str, Any]) -> bool:
        """Whether the answer decision was fitted on the embedding that an index was made with."""
        from models.embeddings import is_calibrated

        return is_calibrated(self._as_spec(stored))

    def _as_spec(self, stored: Mapping[str, Any]) -> "EmbeddingSpec":
        from models.embeddings import EmbeddingSpec

        return EmbeddingSpec.from_json(json.dumps(stored), self.embedding_spec.api_key)
