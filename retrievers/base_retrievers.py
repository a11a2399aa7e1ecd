"""The bases of retrievers: those that return `k` documents, and those that search with others."""

import asyncio
from abc import abstractmethod
from collections.abc import Callable
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


class CountedRetriever(BaseRetriever):
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


class ComposedRetriever(BaseRetriever):
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
