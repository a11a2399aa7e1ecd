"""Searching the library: the index that answers now, its modes, LangChain's retriever over it."""

from dataclasses import dataclass, field

from langchain_core.documents import Document

from domain import Filter, Principal, SearchMode
from errors import InputError
from retrievers.hits import Hit
from retrievers.passages import PassageRetriever
from retrievers.rankers import Ranker
from services.library import Library
from services.ranking import RankingOptions, build_ranker
from storage.documents import Documents

MAX_K = 1000


@dataclass(frozen=True)
class SearchService:
    """Finds passages; `mode` is the one used where a call names none."""

    library: Library
    documents: Documents
    mode: SearchMode = SearchMode.CONVEX
    options: RankingOptions = field(default_factory=RankingOptions)

    def search(
        self,
        principal: Principal,
        query: str,
        *,
        mode: SearchMode | None = None,
        k: int = 5,
        condition: Filter | None = None,
    ) -> list[Document]:
        """At most `k` passages, best first, with `score`, its `parts` and the place of each.

        Raises:
            InputError: The query is empty or no text, or `k` is not between 1 and 1,000.
        """
        if not query.strip():
            raise InputError("The query is empty: type the words to search for.")
        if query != query.encode(errors="replace").decode():
            raise InputError("The query holds bytes that are no letters: type it again in UTF-8.")
        if not 1 <= k <= MAX_K:
            raise InputError(f"k must be between 1 and {MAX_K:,}, it is {k}.")
        return self.retriever(principal, mode=mode, k=k, condition=condition).invoke(query)

    def retriever(
        self,
        principal: Principal,  # noqa: ARG002  # every call names who asks
        *,
        mode: SearchMode | None = None,
        k: int = 5,
        condition: Filter | None = None,
    ) -> PassageRetriever:
        """LangChain's retriever over the index that answers when it is asked."""
        return PassageRetriever(
            rank=self._ranker(mode or self.mode),
            hydrate=self.documents.hydrate,
            k=k,
            condition=condition,
        )

    def _ranker(self, mode: SearchMode) -> Ranker:
        """Opens the index only when it ranks.

        While a model condenses the question, a reindex may take over and delete the old one.
        """

        def rank(question: str, depth: int, condition: Filter | None) -> list[Hit]:
            index = self.library.open_index()
            if index is None:  # nothing was imported yet
                return []
            return build_ranker(mode, index, self.options)(question, depth, condition)

        return rank
