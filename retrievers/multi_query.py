"""A question searched in several wordings at once."""

from langchain_core.callbacks import CallbackManagerForRetrieverRun as Run
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable
from pydantic import Field

from domain import Metadata
from errors import ModelError
from retrievers.counted import CountedRetriever
from retrievers.ensemble import fuse_documents
from retrievers.fusion import RRF_C

QUESTION = "question"


class MultiQueryRetriever(CountedRetriever):
    """Searches a question and its rephrasings with `base` and fuses what they find.

    The lists are fused by reciprocal rank, by the ids of the documents. The question weighs as
    much as all of its rephrasings together: bad ones can't outvote it. Each document says in
    its metadata under `multi_query` which `rephrasings` were searched; its `parts` are named
    "question" and "rephrasing 1" and so on. Where the model fails, the question alone is
    searched, and `multi_query` holds as `skipped` the reason.

    Raises:
        ValueError: `c` is negative, or when asked, a document has no id.
    """

    base: BaseRetriever
    """Its invoke takes `k`."""
    rephrase: Runnable[str, list[str]]
    """Other wordings of a question (see `chains.rephrase`); may raise ModelError."""
    c: float = Field(default=RRF_C, ge=0)
    depth: int = Field(default=100, ge=1)
    """How many documents each wording finds before the fusion, or `k` where that is more."""

    def _find(self, query: str, k: int, run_manager: Run) -> list[Document]:
        try:
            rephrasings = self._rephrasings(query, run_manager)
        except ModelError as error:
            return _marked(self._search(query, k, run_manager), {"skipped": str(error)})
        told: Metadata = {"rephrasings": rephrasings}
        if not rephrasings:
            return _marked(self._search(query, k, run_manager), told)
        queries = {QUESTION: query} | {
            f"rephrasing {n}": other for n, other in enumerate(rephrasings, start=1)
        }
        deep = max(k, self.depth)
        lists = {name: self._search(asked, deep, run_manager) for name, asked in queries.items()}
        weights = [1.0, *[1 / len(rephrasings)] * len(rephrasings)]
        return _marked(fuse_documents(lists, weights=weights, c=self.c, limit=k), told)

    def _rephrasings(self, query: str, run_manager: Run) -> list[str]:
        config = {"callbacks": run_manager.get_child(tag="rephrase"), "tags": ["rephrase"]}
        others = self.rephrase.invoke(query, config)  # type: ignore[arg-type]  # a RunnableConfig
        return [other for other in dict.fromkeys(others) if other.strip() and other != query]

    def _search(self, query: str, k: int, run_manager: Run) -> list[Document]:
        return self.base.invoke(query, {"callbacks": run_manager.get_child()}, k=k)


def _marked(found: list[Document], told: Metadata) -> list[Document]:
    return [
        document.model_copy(update={"metadata": {**document.metadata, "multi_query": told}})
        for document in found
    ]
