"""The chat model that the settings ask for."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import SecretStr

from models.openai_errors import NO_KEY, OPENAI_URL, Endpoint

if TYPE_CHECKING:  # slow, and the name of the model needs none
    from langchain_core.language_models import BaseChatModel

MODEL_SETTING = "FOOTNOTE_CHAT_MODEL"
CONNECT_TIMEOUT_S = 10


@dataclass(frozen=True)
class ChatSpec:
    """Which chat model, where.

    `timeout_s` is the longest silence that is waited through, `answer_timeout_s` the longest time
    that one call may take. None for `temperature` and `max_tokens` leaves them to the server; some
    models refuse the former.
    With `retries`, a call sleeps before each for as long as the server's Retry-After says, up
    to two minutes in which nobody can stop it.
    """

    model: str = ""
    base_url: str | None = None
    api_key: SecretStr | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    timeout_s: float = 60
    answer_timeout_s: float = 300
    retries: int = 0

    @property
    def has_server(self) -> bool:
        """Whether there is anybody to ask."""
        return bool(self.base_url) or self.api_key is not None

    def endpoint(self) -> Endpoint:
        """The server as error messages name it.

        Raises:
            ConfigError: The base URL or the key can be none.
        """
        return Endpoint(
            base_url=self.base_url or OPENAI_URL,
            model=self.model,
            model_setting=MODEL_SETTING,
            key=self.api_key,
            timeout_s=self.timeout_s,
        )


def build_chat_model(spec: ChatSpec) -> "BaseChatModel | None":
    """The streaming chat model, or None without a name for it, or without a key and a base URL.

    Nothing is sent yet. All that its calls raise is ModelError and ModelUnavailableError, the
    latter also, after the last piece, for a stream that ended without finishing.

    Raises:
        ConfigError: The base URL or the key can be none.
    """
    return _chat_openai(spec) if spec.model and spec.has_server else None


def _chat_openai(spec: ChatSpec) -> "BaseChatModel":
    from openai import Timeout

    from models.answer_limits import AnswerLimits
    from models.openai_chat import TranslatedChatOpenAI

    return TranslatedChatOpenAI(
        spec.endpoint(),
        AnswerLimits(spec.max_tokens, spec.answer_timeout_s),
        model=spec.model,
        # Said outright, or the client reads the environment for itself.
        base_url=spec.base_url or OPENAI_URL,
        api_key=spec.api_key or SecretStr(NO_KEY),
        temperature=spec.temperature,
        timeout=Timeout(spec.timeout_s, connect=min(CONNECT_TIMEOUT_S, spec.timeout_s)),
        stream_chunk_timeout=spec.timeout_s,
        max_retries=spec.retries,
        streaming=True,
        stream_usage=True,
        use_responses_api=False,
    )
