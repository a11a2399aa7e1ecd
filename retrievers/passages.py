"""LangChain's retriever over any of the rankers."""

from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document

from domain import Filter
from retrievers.counted import CountedRetriever

Hydrate = Callable[[Sequence[str]], list[Document]]


class PassageRetriever(CountedRetriever):
    """The best passages for a question, each with `score` and `parts` in its metadata.

    The parts are a `domain.ScorePart` each as a dictionary, one for every list that was ranked;
    their shares add up to the score. Scores compare passages of one call only; their range
    depends on the search mode. `hydrate` turns ids into passages and leaves out those that are
    not (or no longer) committed, so a little more than `k` is ranked.
    """

    rank: Any
    """A `retrievers.rankers.Ranker`."""
    hydrate: Hydrate
    condition: Filter | None = None

    def _find(
        self,
        query: str,
        k: int,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002  # nothing to tell it
    ) -> list[Document]:
        hits = {hit.id: hit for hit in self.rank(query, k + SPARE, self.condition)}
        for document in (found := self._committed(list(hits), k)):
            hit = hits[document.id or ""]
            document.metadata["score"] = hit.score
            document.metadata["parts"] = [part._asdict() for part in hit.parts]
        return found

    def _committed(self, ids: list[str], k: int) -> list[Document]:
        """The first `k` of the passages; the spare ids are looked up only where they are needed."""
        found = self.hydrate(ids[:k])
        return found if len(found) >= k else (found + self.hydrate(ids[k:]))[:k]


SPARE = 20  # ids ranked beyond k, since an import may be replacing passages at this moment
