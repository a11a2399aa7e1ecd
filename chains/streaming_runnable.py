"""The base class of runnables that stream."""

from abc import abstractmethod
from collections.abc import AsyncIterator, Iterator
from functools import reduce
from operator import add
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import run_in_executor
from langchain_core.runnables.utils import Input, Output


class StreamingRunnable(Runnable[Input, Output]):
    """Implements the other methods with `stream`, the asynchronous ones in worker threads."""

    @abstractmethod
    def stream(
        self, input: Input, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[Output]:
        """The pieces of the output; their sum is the whole."""

    def invoke(self, input: Input, config: RunnableConfig | None = None, **kwargs: Any) -> Output:
        """The sum of the streamed pieces."""
        return reduce(add, self.stream(input, config, **kwargs))

    async def astream(
        self, input: Input, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[Output]:
        """The pieces of `stream`, each as soon as it is available."""
        pieces = self.stream(input, config, **kwargs)
        while (piece := await run_in_executor(config, next, pieces, None)) is not None:
            yield piece
