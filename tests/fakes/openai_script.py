"""The script and the log of the OpenAI-compatible server on loopback."""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tests.fakes.openai_wire import RecordedRequest, Reply

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
    requests: list[RecordedRequest] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    hung_up: threading.Event = field(default_factory=threading.Event)
    """Set when a client disconnects before the end of its answer."""

    blocked_text: str = ""
    """Embedding requests with this text wait until they are released."""

    is_blocking: threading.Event = field(default_factory=threading.Event)
    """Set while such a request waits."""

    released: threading.Event = field(default_factory=threading.Event)

    models: Sequence[str] = (MODEL, EMBEDDING_MODEL)
    """The listed models, once `listing` is used up."""

    listing: deque[Reply] = field(default_factory=deque)

    refused: frozenset[str] = frozenset()
    """Fields of a chat request that the server rejects, as some other servers do."""

    def will(self, *replies: Reply) -> None:
        self.chat.extend(replies)

    def will_embed(self, *replies: Reply) -> None:
        self.embeddings.extend(replies)

    def block(self, text: str) -> None:
        """Block embedding requests with this text."""
        self.released.clear()
        self.is_blocking.clear()
        self.blocked_text = text

    def release(self) -> None:
        """Release the waiting requests and block no more."""
        self.blocked_text = ""
        self.released.set()

    def check(self) -> None:
        assert not self.violations, "\n".join(self.violations)
