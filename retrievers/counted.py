"""What every retriever over other retrievers has in common."""

from abc import abstractmethod

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun as AsyncRun
from langchain_core.callbacks import CallbackManagerForRetrieverRun as Run
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables.config import run_in_executor
from pydantic import Field


class CountedRetriever(BaseRetriever):
    """Gives at most `k` documents, best first; `k` as built, or as given to (a)invoke.

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
        wanted = self.k if k is None else k
        if wanted < 1:
            raise ValueError(f"k must be at least 1, got {wanted}")
        return self._find(query, wanted, run_manager)

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncRun, k: int | None = None
    ) -> list[Document]:
        # LangChain's own would not take k.
        sync = run_manager.get_sync()
        return await run_in_executor(
            None, self._get_relevant_documents, query, run_manager=sync, k=k
        )
