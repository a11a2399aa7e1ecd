"""An answer within its time, signed with what writes it. Slow to import, as LangChain is."""

from collections.abc import Generator, Iterator
from typing import Any, cast

from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.utils import AddableDict

from models.answer_limits import within_time

Pieces = dict[str, Any]


class TimedAnswer(Runnable[Pieces, Pieces]):
    """A chain or an agent whose calls of the chat model share one time limit.

    Its first piece is `model`, what the answer is signed with; then come those of the chain.
    """

    def __init__(self, chain: Runnable[Pieces, Pieces], label: str, seconds: float) -> None:
        """Args: `seconds` begin anew with each answer."""
        self._chain = chain
        self._label = label
        self._seconds = seconds

    def invoke(self, input: Pieces, config: RunnableConfig | None = None, **kwargs: Any) -> Pieces:
        """The stream's pieces, added up."""
        whole = AddableDict()
        for piece in self.stream(input, config, **kwargs):
            whole = AddableDict(whole + AddableDict(piece))
        return whole

    def stream(
        self, input: Pieces, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[Pieces]:
        """The pieces as they come; raises what the chain raises."""
        yield AddableDict(model=self._label)
        pieces = cast("Generator[Pieces]", self._chain.stream(input, config, **kwargs))
        yield from within_time(pieces, self._seconds)
