"""Checks with a real search whether questions can be answered."""

import asyncio
import threading
from concurrent.futures import Future

from bootstrap import Services
from domain import LOCAL_USER, SearchMode

LIMIT_S = 5.0
_QUERY = "ready"


class SearchProbe:
    """Runs one search at a time, in a thread of its own, and all checks meanwhile wait for it.

    So a search that hangs occupies one thread, however often the check is repeated.
    """

    def __init__(self, limit_s: float = LIMIT_S) -> None:
        """`limit_s` is the time after which a search counts as hanging."""
        self._limit_s = limit_s
        self._search: Future[None] | None = None

    async def check(self, services: Services) -> None:
        """Return once a search has succeeded.

        Raises:
            AppError: The search failed.
            TimeoutError: It did not end in time.
        """
        if self._search is None or self._search.done():
            self._search = Future()
            arguments = (services, self._search)
            threading.Thread(target=_search, args=arguments, daemon=True).start()
        ended, _ = await asyncio.wait([asyncio.wrap_future(self._search)], timeout=self._limit_s)
        if not ended:
            raise TimeoutError(f"a search has not ended for {self._limit_s:g} s")
        ended.pop().result()


def _search(services: Services, result: Future[None]) -> None:
    try:
        services.search.search(LOCAL_USER, _QUERY, mode=_mode(services), k=1, rerank=False)
    except Exception as error:  # noqa: BLE001  # raised by the check
        result.set_exception(error)
    else:
        result.set_result(None)


def _mode(services: Services) -> SearchMode:
    """All rankers, or only keywords if the embedding model is on a server, which may charge."""
    index = services.library.indexes.active()
    is_local = index is None or index.spec.embedding["provider"] != "openai"
    return SearchMode.CONVEX if is_local else SearchMode.BM25
