"""Retrievers that fuse the results of others, or of several rephrasings of a question.

The formula is `rankers.fuse_reciprocal_ranks`.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Self

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun as AsyncRun
from langchain_core.callbacks import BaseCallbackManager
from langchain_core.callbacks import CallbackManagerForRetrieverRun as Run
from langchain_core.documents import Document
from langchain_core.retrievers import RetrieverLike
from langchain_core.runnables import Runnable, RunnableConfig
from pydantic import Field, model_validator

from domain import Metadata
from domain.errors import ModelError
from retrievers.passage_retrievers import (
    BaseComposedRetriever,
    search,
    search_async,
    search_depth,
    with_metadata,
)
from retrievers.rankers import RRF_C, Hit, check_weights, fuse_reciprocal_ranks

PAGE_CONTENT = "page_content"


class EnsembleRetriever(BaseComposedRetriever):
    """Fuses any number of retrievers by weighted reciprocal rank.

    `id_key` determines which documents are equal. Of equal documents, the first in the order of the
    retrievers is returned, as a copy with `score` and `parts` (see `fuse_documents`). Each part is
    named after its retriever's `name`.

    Raises:
        ValueError: There is no retriever, `c` or a weight is negative, or there are not as many
            weights as retrievers; or, in invoke, a document lacks the key.
    """

    retrievers: list[RetrieverLike] = Field(min_length=1)
    weights: list[float] | None = None
    """One per retriever; 1 by default."""
    c: float = Field(default=RRF_C, ge=0)
    id_key: str | None = None
    """The key of the metadata that identifies a document, or "page_content" for its text.

    None is for its id, or for its text if any of the documents has no id.
    """
    depth: int = Field(default=100, ge=1)
    """With `k`, the number of documents from each retriever, or `k` if that is more."""

    @model_validator(mode="after")
    def _check_weights(self) -> Self:
        check_weights(self.weights, len(self.retrievers))
        return self

    def _find(self, query: str, k: int | None, run_manager: Run) -> list[Document]:
        deep = search_depth(k, self.depth)
        results = [
            search(retriever, query, deep, run_manager.get_child(tag=f"retriever_{n}"))
            for n, retriever in enumerate(self.retrievers, start=1)
        ]
        return self._fuse(results, k)

    async def _afind(self, query: str, k: int | None, run_manager: AsyncRun) -> list[Document]:
        deep = search_depth(k, self.depth)
        searches = [
            search_async(retriever, query, deep, run_manager.get_child(tag=f"retriever_{n}"))
            for n, retriever in enumerate(self.retrievers, start=1)
        ]
        return self._fuse(await asyncio.gather(*searches), k)

    def _fuse(self, results: Sequence[list[Document]], k: int | None) -> list[Document]:
        names = _distinct(retriever.get_name() for retriever in self.retrievers)
        lists = dict(zip(names, results, strict=True))
        return fuse_documents(lists, weights=self.weights, c=self.c, id_key=self.id_key, limit=k)


def fuse_documents(
    lists: Mapping[str, Sequence[Document]],
    *,
    weights: Sequence[float] | None = None,
    c: float = RRF_C,
    id_key: str | None = None,
    limit: int | None = None,
) -> list[Document]:
    """Merge lists of documents, best first, by weighted reciprocal rank.

    A document that occurs in a list several times counts once, at its first position.

    Args:
        lists: The lists by name.
        weights: One per list; 1 by default.
        c: See `retrievers.rankers.fuse_reciprocal_ranks`.
        id_key: See `EnsembleRetriever.id_key`; values are compared as text.
        limit: The maximum number of documents; all by default.

    Returns:
        Copies of the documents, best first. Their metadata contains the fused `score`, and `parts`
        with the rank, original score (None if it had none), and share in each list. The shares add
        up to the fused score.

    Raises:
        ValueError: A document lacks the key, or see `fuse_reciprocal_ranks`.
    """
    if id_key is None and any(one.id is None for documents in lists.values() for one in documents):
        id_key = PAGE_CONTENT
    keyed = {name: _first_by_identity(documents, id_key) for name, documents in lists.items()}
    # Fusion uses only the order, so documents need no score.
    rankings = {name: [(key, 0.0) for key in documents] for name, documents in keyed.items()}
    hits = fuse_reciprocal_ranks(rankings, weights=weights, c=c, limit=limit)
    return [_explain(hit, keyed) for hit in hits]


def _first_by_identity(documents: Iterable[Document], id_key: str | None) -> dict[str, Document]:
    first: dict[str, Document] = {}
    for document in documents:
        first.setdefault(_identity(document, id_key), document)
    return first


def _identity(document: Document, id_key: str | None) -> str:
    if id_key == PAGE_CONTENT:
        return document.page_content
    value = document.id if id_key is None else document.metadata.get(id_key)
    if value is not None:
        return str(value)
    raise ValueError(
        f"a document has no {id_key!r} in its metadata, so it can't be distinguished from others"
        f" (it begins {document.page_content[:40]!r}): set id_key to a key that all of them have,"
        f" or to {PAGE_CONTENT!r}"
    )


def _explain(hit: Hit, keyed: Mapping[str, Mapping[str, Document]]) -> Document:
    holders = {name: documents[hit.id] for name, documents in keyed.items() if hit.id in documents}
    own = {name: holder.metadata.get("score") for name, holder in holders.items()}
    parts = [part._replace(score=own.get(part.ranker))._asdict() for part in hit.parts]
    return with_metadata(next(iter(holders.values())), score=hit.score, parts=parts)


def _distinct(names: Iterable[str]) -> list[str]:
    """The names, with a number after repeated names."""
    counts: Counter[str] = Counter()
    distinct = []
    for name in names:
        counts[name] += 1
        distinct.append(name if counts[name] == 1 else f"{name} {counts[name]}")
    return distinct


QUESTION = "question"


class MultiQueryRetriever(BaseComposedRetriever):
    """Searches for a question and its rephrasings with `base`, and fuses the results.

    The lists are fused by reciprocal rank and document id, or by text if a document has no id. The
    question has the same weight as all of its rephrasings together, so bad rephrasings can't
    outvote it. In the metadata of each document, `multi_query` contains the `rephrasings`, and
    `parts` are named "question", "rephrasing 1", and so on. If the model fails, only the question
    is searched, and `multi_query` contains the reason as `skipped`.

    Raises:
        ValueError: `c` is negative.
    """

    base: RetrieverLike
    rephrase: Runnable[str, list[str]]
    """Returns rephrasings of a question, for example `chains.condensing.condense`."""
    c: float = Field(default=RRF_C, ge=0)
    depth: int = Field(default=100, ge=1)
    """With `k`, the number of documents per wording before fusion, or `k` if that is more."""

    def _find(self, query: str, k: int | None, run_manager: Run) -> list[Document]:
        try:
            others = self.rephrase.invoke(query, _rephrasing(run_manager.get_child(tag=REPHRASE)))
            details: Metadata = {"rephrasings": _useful(others, query)}
        except ModelError as error:
            details = {"skipped": str(error)}
        wordings, deep = self._searches(query, k, details)
        return self._fuse(
            [search(self.base, one, deep, run_manager.get_child()) for one in wordings], k, details
        )

    async def _afind(self, query: str, k: int | None, run_manager: AsyncRun) -> list[Document]:
        try:
            config = _rephrasing(run_manager.get_child(tag=REPHRASE))
            others = await self.rephrase.ainvoke(query, config)
            details: Metadata = {"rephrasings": _useful(others, query)}
        except ModelError as error:
            details = {"skipped": str(error)}
        wordings, deep = self._searches(query, k, details)
        searches = [search_async(self.base, one, deep, run_manager.get_child()) for one in wordings]
        return self._fuse(await asyncio.gather(*searches), k, details)

    def _searches(
        self, query: str, k: int | None, details: Metadata
    ) -> tuple[list[str], int | None]:
        """The wordings to search for, the question first, and the number of documents of each."""
        wordings = [query, *details.get("rephrasings", ())]
        return wordings, k if len(wordings) == 1 else search_depth(k, self.depth)

    def _fuse(
        self, results: Sequence[list[Document]], k: int | None, details: Metadata
    ) -> list[Document]:
        if len(results) == 1:
            return _with_details(results[0], details)
        others = len(results) - 1
        names = [QUESTION, *(f"rephrasing {n}" for n in range(1, others + 1))]
        lists = dict(zip(names, results, strict=True))
        weights = [1.0, *[1 / others] * others]
        return _with_details(fuse_documents(lists, weights=weights, c=self.c, limit=k), details)


REPHRASE = "rephrase"


def _rephrasing(callbacks: BaseCallbackManager) -> RunnableConfig:
    return {"callbacks": callbacks, "tags": [REPHRASE]}


def _useful(rephrasings: Iterable[str], query: str) -> list[str]:
    """The distinct rephrasings that differ from the question."""
    return [one for one in dict.fromkeys(rephrasings) if one.strip() and one != query]


def _with_details(documents: list[Document], details: Metadata) -> list[Document]:
    return [with_metadata(document, multi_query=details) for document in documents]
