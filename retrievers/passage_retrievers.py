"""The retrievers of passages, and the bases of all retrievers."""

import asyncio
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun as AsyncRun
from langchain_core.callbacks import BaseCallbackManager
from langchain_core.callbacks import CallbackManagerForRetrieverRun as Run
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever, RetrieverLike
from langchain_core.runnables import Runnable, RunnableConfig, RunnableWithFallbacks
from langchain_core.runnables.base import RunnableBindingBase
from langchain_core.runnables.config import ensure_config, run_in_executor, set_config_context
from langchain_core.vectorstores import VectorStoreRetriever
from pydantic import Field

from domain import Filter, Metadata, Passage, shared_headings


class BaseCountedRetriever(BaseRetriever):
    """Returns at most `k` documents, best first; `k` can be overridden in (a)invoke.

    Raises:
        ValueError: `k` is below 1.
    """

    k: int = Field(default=5, ge=1)

    @abstractmethod
    def _find(self, query: str, k: int, run_manager: Run) -> list[Document]:
        """At most `k` documents, best first."""

    def _get_relevant_documents(
        self, query: str, *, run_manager: Run, k: int | None = None
    ) -> list[Document]:
        return self._find(query, _positive(self.k if k is None else k), run_manager)

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncRun, k: int | None = None
    ) -> list[Document]:
        # LangChain's implementation does not accept `k`.
        sync = run_manager.get_sync()
        return await run_in_executor(
            None, self._get_relevant_documents, query, run_manager=sync, k=k
        )


class BaseComposedRetriever(BaseRetriever):
    """Searches with other retrievers, its children, and returns at most `k` documents, best first.

    A child is any Runnable that returns documents or texts for a question; asynchronous calls await
    those of the children. `k` can be overridden in (a)invoke, and is passed on to the children that
    accept it. Without it, each child returns its own number of documents, and none is left out.

    Raises:
        ValueError: `k` is below 1.
    """

    k: int | None = Field(default=None, ge=1)

    @abstractmethod
    def _find(self, query: str, k: int | None, run_manager: Run) -> list[Document]:
        """The documents, best first; those after the first `k` are dropped."""

    @abstractmethod
    async def _afind(self, query: str, k: int | None, run_manager: AsyncRun) -> list[Document]:
        """`_find`, awaiting the children."""

    def invoke(
        self, input: str, config: RunnableConfig | None = None, **kwargs: Any
    ) -> list[Document]:
        """See `BaseRetriever`; the children get what is configurable in `config`."""
        config = ensure_config(config)  # with what this call inherits
        with set_config_context({"configurable": config["configurable"]}) as context:
            return context.run(super().invoke, input, config, **kwargs)

    async def ainvoke(
        self, input: str, config: RunnableConfig | None = None, **kwargs: Any
    ) -> list[Document]:
        """See `invoke`."""
        config = ensure_config(config)
        with set_config_context({"configurable": config["configurable"]}) as context:
            search = super().ainvoke(input, config, **kwargs)
            return await asyncio.create_task(search, context=context)

    def _get_relevant_documents(
        self, query: str, *, run_manager: Run, k: int | None = None
    ) -> list[Document]:
        limit = self._limit(k)
        return self._find(query, limit, run_manager)[:limit]

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncRun, k: int | None = None
    ) -> list[Document]:
        limit = self._limit(k)
        return (await self._afind(query, limit, run_manager))[:limit]

    def _limit(self, k: int | None) -> int | None:
        limit = self.k if k is None else k
        return None if limit is None else _positive(limit)


def search(
    child: RetrieverLike, query: str, k: int | None, callbacks: BaseCallbackManager
) -> list[Document]:
    """The documents of a child, best first: `k` if it accepts a number, or else its own number."""
    return _documents(child.invoke(query, {"callbacks": callbacks}, **_options(child, k)))


async def search_async(
    child: RetrieverLike, query: str, k: int | None, callbacks: BaseCallbackManager
) -> list[Document]:
    """`search`, awaiting the child."""
    if _is_synchronous(child):  # LangChain's asynchronous call of it does not accept `k`
        return await run_in_executor(None, search, child, query, k, callbacks)
    return _documents(await child.ainvoke(query, {"callbacks": callbacks}, **_options(child, k)))


def with_metadata(document: Document, **metadata: Any) -> Document:
    """A copy of the document with more metadata."""
    return document.model_copy(update={"metadata": {**document.metadata, **metadata}})


def search_depth(k: int | None, depth: int) -> int | None:
    """The number of documents to search for, so that the best `k` can be chosen from `depth`."""
    return None if k is None else max(k, depth)


def _options(child: RetrieverLike, k: int | None) -> dict[str, int]:
    return {} if k is None or not _accepts_k(child) else {"k": k}


def _accepts_k(child: Runnable[Any, Any]) -> bool:
    """Whether its synchronous and asynchronous calls both accept `k`."""
    if isinstance(child, RunnableBindingBase):
        return _accepts_k(child.bound)
    if isinstance(child, RunnableWithFallbacks):
        return all(_accepts_k(one) and not _is_synchronous(one) for one in child.runnables)
    if isinstance(child, VectorStoreRetriever):
        return True
    if not isinstance(child, BaseRetriever) or not _has_k(child._get_relevant_documents):
        return False
    return _is_synchronous(child) or _has_k(child._aget_relevant_documents)


def _has_k(search_method: Callable[..., Any]) -> bool:
    return "k" in signature(search_method).parameters


def _is_synchronous(child: Runnable[Any, Any]) -> bool:
    """Whether it is a retriever without an asynchronous search of its own."""
    if isinstance(child, RunnableBindingBase):
        return _is_synchronous(child.bound)
    inherited = BaseRetriever._aget_relevant_documents
    return isinstance(child, BaseRetriever) and (type(child)._aget_relevant_documents is inherited)


def _documents(results: list[Any]) -> list[Document]:
    return [Document(page_content=one) if isinstance(one, str) else one for one in results]


def _positive(k: int) -> int:
    if k < 1:
        raise ValueError(f"k must be at least 1, got {k}")
    return k


Neighbors = Callable[[Sequence[str], int], Mapping[str, Passage]]
"""Returns, by passage id, its document's text from `n` passages before it to `n` after it."""


class WindowRetriever(BaseComposedRetriever):
    """Widens each hit of `base` by up to `passages` neighbors on either side.

    A widened hit is an exact span of its document: `page_content`, `start`, and `end` match the
    stored text, `page` and `ordinal` are those of its first passage, and `heading_path` is the
    common part of all its heading paths. Its id and score are those of the hit. In the metadata,
    `window` lists the `id`, `start`, and `end` of the hits that it contains, best first.

    Overlapping windows are merged at the rank of the better hit, so there may be fewer than `k`.
    No window exceeds `max_chars`: it gets fewer neighbors, or is not merged. A hit that is unknown
    to `neighbors`, for example because it was deleted, is unchanged.
    """

    base: RetrieverLike
    neighbors: Neighbors
    passages: int = Field(default=1, ge=0)
    max_chars: int = Field(default=6000, ge=1)

    def _find(self, query: str, k: int | None, run_manager: Run) -> list[Document]:
        return self._windows(search(self.base, query, k, run_manager.get_child())[:k])

    async def _afind(self, query: str, k: int | None, run_manager: AsyncRun) -> list[Document]:
        hits = await search_async(self.base, query, k, run_manager.get_child())
        return await run_in_executor(None, self._windows, hits[:k])  # reads the ledger

    def _windows(self, documents: Sequence[Document]) -> list[Document]:
        wide = self._widen([document.id or "" for document in documents])
        windows = [_Window.of(rank, hit, wide) for rank, hit in enumerate(documents)]
        return [window.document() for window in _merge(windows, self.max_chars)]

    def _widen(self, ids: Sequence[str]) -> dict[str, Passage]:
        """The widest span around each hit that is not too long."""
        fitting: dict[str, Passage] = {}
        for n in range(self.passages, 0, -1):
            remaining = [id_ for id_ in ids if id_ not in fitting]
            wide = self.neighbors(remaining, n) if remaining else {}
            fitting |= {id_: p for id_, p in wide.items() if len(p.text) <= self.max_chars}
        return fitting


@dataclass(frozen=True)
class _Window:
    """A hit, its widened span (None if unknown), and the hits in it by rank."""

    rank: int
    hit: Document
    span: Passage | None
    hits: Mapping[int, Metadata]

    @classmethod
    def of(cls, rank: int, hit: Document, wide: Mapping[str, Passage]) -> "_Window":
        place = {"id": hit.id, **{key: hit.metadata.get(key) for key in ("start", "end")}}
        return cls(rank, hit, wide.get(hit.id or ""), {rank: place})

    def joined(self, other: "_Window", max_chars: int) -> "_Window | None":
        """Merge both, keeping the better hit; None if they do not overlap or would be too long."""
        if self.span is None or other.span is None:
            return None
        span = _union(self.span, other.span)
        if span is None or len(span.text) > max_chars:
            return None
        better = min(self, other, key=lambda window: window.rank)
        return replace(better, span=span, hits={**self.hits, **other.hits})

    def document(self) -> Document:
        if self.span is None:
            return self.hit
        place = {
            "start": self.span.start,
            "end": self.span.end,
            "page": self.span.page,
            "ordinal": self.span.ordinal,
            "heading_path": list(self.span.heading_path),
            "window": [place for _, place in sorted(self.hits.items())],
        }
        metadata = {**self.hit.metadata, **place}
        return self.hit.model_copy(update={"page_content": self.span.text, "metadata": metadata})


def _merge(windows: Sequence[_Window], max_chars: int) -> list[_Window]:
    """The windows, best first, joined as far as possible."""
    merged: list[_Window] = []
    for window in windows:
        grown = window
        while pair := _first_join(grown, merged, max_chars):
            other, grown = pair
            merged.remove(other)
        merged.append(grown)
    return sorted(merged, key=lambda window: window.rank)


def _first_join(
    window: _Window, merged: Sequence[_Window], max_chars: int
) -> tuple[_Window, _Window] | None:
    for other in merged:
        if joined := other.joined(window, max_chars):
            return other, joined
    return None


def _union(one: Passage, other: Passage) -> Passage | None:
    """The union of two overlapping spans; None if they do not overlap."""
    first, second = sorted((one, other), key=lambda passage: (passage.start, passage.end))
    if first.document_id != second.document_id or first.end <= second.start:
        return None
    return replace(
        first,
        end=max(first.end, second.end),
        text=first.text + second.text[max(0, first.end - second.start) :],
        heading_path=shared_headings([first.heading_path, second.heading_path]),
    )


Hydrate = Callable[[Sequence[str]], list[Document]]


class PassageRetriever(BaseCountedRetriever):
    """The best passages for a question, each with `score` and `parts` in its metadata.

    The parts are `domain.ScorePart`s as dictionaries, one per ranked list; their shares add up to
    the score. Scores can be compared within one call only; their range depends on the search mode.
    `hydrate` loads passages by id and omits those that are not (or no longer) committed, so a few
    more than `k` are ranked.
    """

    rank: Any
    """A `retrievers.rankers.Ranker`."""
    hydrate: Hydrate
    condition: Filter | None = None

    def _find(
        self,
        query: str,
        k: int,
        run_manager: Run,  # noqa: ARG002  # required by LangChain
    ) -> list[Document]:
        hits = {hit.id: hit for hit in self.rank(query, k + SPARE, self.condition)}
        for document in (documents := self._look_up(list(hits), k)):
            hit = hits[document.id or ""]
            document.metadata["score"] = hit.score
            document.metadata["parts"] = [part._asdict() for part in hit.parts]
        return documents

    def _look_up(self, ids: list[str], k: int) -> list[Document]:
        """The first `k` committed passages; the spare ids are looked up only if needed."""
        documents = self.hydrate(ids[:k])
        return documents if len(documents) >= k else (documents + self.hydrate(ids[k:]))[:k]


SPARE = 20  # ids ranked in addition to k, because an import may be replacing passages
