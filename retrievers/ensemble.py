"""The documents of several retrievers as one list, by reciprocal rank fusion."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Self

from langchain_core.callbacks import CallbackManagerForRetrieverRun as Run
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import Field, model_validator

from retrievers.counted import CountedRetriever
from retrievers.fusion import RRF_C, check_weights, fuse_reciprocal_ranks
from retrievers.hits import Hit

PAGE_CONTENT = "page_content"


class EnsembleRetriever(CountedRetriever):
    """Fuses any number of retrievers by weighted reciprocal rank.

    What is the same is decided by `id_key`; of documents that are, the first in the order of the
    retrievers is given, as a copy with its `score` and `parts` (see `fuse_documents`). Each part
    is named after its retriever's `name`.

    Raises:
        ValueError: There is no retriever; `c` or a weight is negative, or there are not as many
            weights as retrievers; when asked, a document lacks its identity.
    """

    retrievers: list[BaseRetriever] = Field(min_length=1)
    weights: list[float] | None = None
    """One per retriever; 1 each if not given."""
    c: float = Field(default=RRF_C, ge=0)
    id_key: str | None = None
    """None: the id of the document; "page_content": its text; else that key of its metadata."""
    depth: int = Field(default=100, ge=1)
    """How many documents each retriever is asked for, or `k` where that is more."""

    @model_validator(mode="after")
    def _check_weights(self) -> Self:
        check_weights(self.weights, len(self.retrievers))
        return self

    def _find(self, query: str, k: int, run_manager: Run) -> list[Document]:
        found = [
            retriever.invoke(
                query,
                {"callbacks": run_manager.get_child(tag=f"retriever_{n}")},
                k=max(k, self.depth),
            )
            for n, retriever in enumerate(self.retrievers, start=1)
        ]
        names = _distinct(retriever.get_name() for retriever in self.retrievers)
        lists = dict(zip(names, found, strict=True))
        return fuse_documents(lists, weights=self.weights, c=self.c, id_key=self.id_key, limit=k)


def fuse_documents(
    lists: Mapping[str, Sequence[Document]],
    *,
    weights: Sequence[float] | None = None,
    c: float = RRF_C,
    id_key: str | None = None,
    limit: int,
) -> list[Document]:
    """Merge lists of documents, best first, by weighted reciprocal rank.

    Ranks count different documents: one that stands in a list twice counts where it comes first.

    Args:
        lists: By name.
        weights: One per list; 1 if not given.
        c: See `retrievers.fusion.fuse_reciprocal_ranks`.
        id_key: See `EnsembleRetriever.id_key`; values are compared as text.
        limit: At most so many documents.

    Returns:
        Copies of the documents, best first, with `score` and `parts` in their metadata: the
        fused score, and of each list the rank, the score that the document had there (None where
        it had none) and the share of the fused score. The shares add up to it.

    Raises:
        ValueError: A document lacks its identity; or see `fuse_reciprocal_ranks`.
    """
    keyed = {name: _first_by_identity(found, id_key) for name, found in lists.items()}
    # Only the order counts in the fusion, so that documents need no score.
    rankings = {name: [(key, 0.0) for key in found] for name, found in keyed.items()}
    hits = fuse_reciprocal_ranks(rankings, weights=weights, c=c, limit=limit)
    return [_explained(hit, keyed) for hit in hits]


def _first_by_identity(found: Iterable[Document], id_key: str | None) -> dict[str, Document]:
    first: dict[str, Document] = {}
    for document in found:
        first.setdefault(_identity(document, id_key), document)
    return first


def _identity(document: Document, id_key: str | None) -> str:
    if id_key == PAGE_CONTENT:
        return document.page_content
    value = document.id if id_key is None else document.metadata.get(id_key)
    if value is not None:
        return str(value)
    lacking = "id" if id_key is None else f"{id_key!r} in its metadata"
    raise ValueError(
        f"a document has no {lacking}, so that it can't be told from others (it begins "
        f"{document.page_content[:40]!r}): set id_key to a key that all of them have, or to "
        f"{PAGE_CONTENT!r}"
    )


def _explained(hit: Hit, keyed: Mapping[str, Mapping[str, Document]]) -> Document:
    holders = {name: found[hit.id] for name, found in keyed.items() if hit.id in found}
    own = {name: holder.metadata.get("score") for name, holder in holders.items()}
    parts = [part._replace(score=own.get(part.ranker))._asdict() for part in hit.parts]
    document = next(iter(holders.values()))
    metadata = {**document.metadata, "score": hit.score, "parts": parts}
    return document.model_copy(update={"metadata": metadata})


def _distinct(names: Iterable[str]) -> list[str]:
    """The names, a second of its kind with a number."""
    seen: Counter[str] = Counter()
    distinct = []
    for name in names:
        seen[name] += 1
        distinct.append(name if seen[name] == 1 else f"{name} {seen[name]}")
    return distinct
