"""The interfaces of an index: its store, and its words."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Protocol

from domain import Filter, Metadata
from storage.ledger.index_store import Index

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from langchain_core.embeddings import Embeddings

    from storage.keywords.filtered_keywords import Matching
    from storage.vectors.passage_vector_store import PassageVectorStore


EmbeddingsFor = Callable[[Mapping[str, Any]], "Embeddings"]
"""Loads the model that an `IndexSpec.embedding` describes."""

Scored = tuple[str, float]
"""The id of a passage and its score."""


class LexicalIndex(Protocol):
    """The words of the passages: `FilteredKeywords`, or `WordIndex` on OpenSearch."""

    def search(self, query: str, k: int, condition: Filter | None = None) -> list[Scored]:
        """At most `k` matching pairs `(passage id, BM25 score above 0)`, best first."""

    def search_tokens(
        self, tokens: Sequence[str], k: int, condition: Filter | None = None
    ) -> list[Scored]:
        """Search by tokens as they are indexed."""

    def idf(self, tokens: Collection[str]) -> dict[str, float]:
        """The weight of each token; highest for a token in no passage."""

    def counts(self, tokens: Collection[str]) -> dict[str, int]:
        """The number of passages with each token."""

    def tokens_with_prefix(self, prefix: str) -> dict[str, int]:
        """The tokens with this prefix, with their `counts`, most frequent first."""

    def __len__(self) -> int:
        """The number of passages."""


@dataclass(frozen=True, slots=True)
class NewPassage:
    """A passage to index; its words are those of `searchable`."""

    id: str
    text: str
    metadata: Metadata
    searchable: str


@dataclass(frozen=True, slots=True)
class Inspection:
    """The ids in one part of a store, or descriptions of its `damage`."""

    name: str
    ids: Sequence[str] = ()
    damage: tuple[str, ...] = field(default=())


class IndexStore(ABC):
    """The passages of one index with their vectors and words, and its embedding model.

    `failures` has, by part, the reason why the last search could not read the part.
    """

    parts = 1
    """The number of parts that can be damaged separately."""

    def __init__(self, index: Index, embeddings_for: EmbeddingsFor) -> None:
        self.index = index
        self._embeddings_for = embeddings_for
        self.failures: dict[str, str] = {}

    @cached_property
    def embedding(self) -> "Embeddings":
        """The model, loaded when the first text is embedded."""
        from storage.vectors.passage_store import LazyEmbeddings  # loads LangChain

        return LazyEmbeddings(partial(self._embeddings_for, self.index.spec.embedding))

    @abstractmethod
    def create(self, others: Sequence[Index]) -> None:
        """Prepare the place of a new index; `others` are the other indexes of the library.

        Raises:
            StorageError: It can't be created there.
            ConfigError: The server is not a suitable OpenSearch.
        """

    @abstractmethod
    def remove(self) -> bool:
        """Delete the index; False if something keeps it from being deleted now.

        Raises:
            StorageError: The cluster failed; the index may still exist.
        """

    @property
    def is_deleted(self) -> bool:
        """Whether the index is known to be deleted, without asking a server."""
        return False

    @abstractmethod
    def publish(self, others: Sequence[Index]) -> None:
        """Make the index, which is active, known to other programs, if they can use it.

        Raises:
            StorageError: The cluster failed; call it again later.
        """

    @property
    @abstractmethod
    def passages(self) -> "PassageVectorStore":
        """The vector store."""

    @abstractmethod
    def words(self, in_ledger: "Matching | None" = None) -> LexicalIndex:
        """The words with filters; `in_ledger` filters while the vectors are damaged."""

    @abstractmethod
    def add(self, passages: Sequence[NewPassage], vectors: "npt.NDArray[np.float32]") -> None:
        """Add passages, replacing those with the same ids; later searches find them.

        Raises:
            StorageError: Some could not be written; the others may have been.
        """

    @abstractmethod
    def replace_metadata(self, metadata: Mapping[str, Metadata]) -> None:
        """Replace the metadata of passages by id; unknown ids are ignored. Raises like `add`."""

    @abstractmethod
    def delete(self, ids: Sequence[str]) -> None:
        """Delete passages; unknown ids are ignored. Raises like `add`."""

    @property
    @abstractmethod
    def may_be_new(self) -> bool:
        """Whether a part that does not exist would be taken for new; see `expect_contents`."""

    @abstractmethod
    def expect_contents(self) -> None:
        """Treat a part that does not exist as damaged from now on, not as new."""

    @property
    def commits(self) -> int:
        """The number of commits whose history takes memory in each process that opens the index."""
        return 0

    @abstractmethod
    def prepare(self) -> None:
        """Check at the start of a process that the index can be used, without reading passages.

        Raises:
            BusyError: Another process is writing to it.
            StorageError: It is damaged or can't be read.
        """

    @abstractmethod
    def require_usable(self) -> None:
        """Make sure, as far as it can be known quickly, that the index is not damaged.

        Raises:
            DamagedIndexError: A part is damaged.
        """

    @abstractmethod
    def load(self) -> None:
        """Open the index for writing, which may take seconds.

        Raises:
            DamagedIndexError: It is damaged; nothing may be written.
        """

    @abstractmethod
    def refresh(self) -> None:
        """Let the next read by id find what other processes have written by now."""

    @abstractmethod
    def damage(self) -> tuple[str, ...]:
        """A message for each unusable part, from what is known without reading passages."""

    @abstractmethod
    def inspect(self) -> list[Inspection]:
        """The ids or the damage of each part; the first one has the texts of the passages."""
