"""The script and the log of the OpenAI-compatible server on loopback."""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tests.fakes.openai_wire import Recorded, Reply

MODEL = "test-chat"
EMBEDDING_MODEL = "test-embedding"


@dataclass
class OpenAIServer:
    """Scripted replies, used in order, and recorded requests.

    `answer` computes a reply from the request body once the script is used up; without it,
    another request is a violation, as is anything outside the protocol. With `api_key`,
    requests without that key get a 401.
    """

    url: str = ""
    api_key: str | None = None
    answer: Callable[[dict], Reply] | None = None
    chat: deque[Reply] = field(default_factory=deque)
    embeddings: deque[Reply] = field(default_factory=deque)
    requests: list[Recorded] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    hung_up: threading.Event = field(default_factory=threading.Event)
    """Set when a client disconnects before the end of its answer."""

    held: str = ""
    """Embedding requests with a text that has this in it wait until they are let go."""

    holds: threading.Event = field(default_factory=threading.Event)
    """Set while one waits so."""

    let_go: threading.Event = field(default_factory=threading.Event)

    models: Sequence[str] = (MODEL, EMBEDDING_MODEL)
    """The listed models, once `listing` is used up."""

    listing: deque[Reply] = field(default_factory=deque)

    refused: frozenset[str] = frozenset()
    """Fields of a chat request that the server rejects, as some other servers do."""

    def will(self, *replies: Reply) -> None:
        self.chat.extend(replies)

    def will_embed(self, *replies: Reply) -> None:
        self.embeddings.extend(replies)

    def hold(self, text: str) -> None:
        """Hold embedding requests with this text."""
        self.let_go.clear()
        self.holds.clear()
        self.held = text

    def go_on(self) -> None:
        """Release held requests and hold no more."""
        self.held = ""
        self.let_go.set()

    def check(self) -> None:
        assert not self.violations, "\n".join(self.violations)
