"""The chat model that the settings ask for."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import SecretStr

from errors import ConfigError
from models.openai_errors import NO_KEY, OPENAI_URL, Endpoint

if TYPE_CHECKING:  # slow, and the name of the model needs none
    from langchain_core.language_models import BaseChatModel

MODEL_SETTING = "FOOTNOTE_CHAT_MODEL"
CONNECT_TIMEOUT_S = 10


@dataclass(frozen=True)
class ChatSpec:
    """Which chat model, where.

    `timeout_s` is the longest silence that is waited through, not the length of the answer.
    None for `temperature` and `max_tokens` leaves them to the server; some models refuse them.
    With `retries`, a call sleeps before each for as long as the server's Retry-After says, up
    to two minutes in which nobody can stop it.
    """

    model: str = ""
    base_url: str | None = None
    api_key: SecretStr | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    timeout_s: float = 60
    retries: int = 0

    def endpoint(self) -> Endpoint:
        """The server as error messages name it."""
        return Endpoint(
            base_url=self.base_url or OPENAI_URL,
            model=self.model,
            model_setting=MODEL_SETTING,
            key=self.api_key,
            timeout_s=self.timeout_s,
        )


def is_configured(spec: ChatSpec) -> bool:
    """Whether a chat model is set; without a key and a base URL there is none.

    Raises:
        ConfigError: The model has no name, or the base URL is none.
    """
    if not spec.base_url and spec.api_key is None:
        return False
    if not spec.model:
        raise ConfigError(
            f"{MODEL_SETTING} is not set. Name the model that "
            f"{spec.endpoint().host} shall answer with."
        )
    spec.endpoint()  # refuses a base URL or a key that can be none
    return True


def build_chat_model(spec: ChatSpec) -> "BaseChatModel | None":
    """The streaming chat model, or None where none is set (see `is_configured`).

    Nothing is sent yet. All that its calls raise is ModelError and ModelUnavailableError, the
    latter also, after the last piece, for a stream that ended without finishing.

    Raises:
        ConfigError: The model has no name, or the base URL is none.
    """
    return _chat_openai(spec) if is_configured(spec) else None


def _chat_openai(spec: ChatSpec) -> "BaseChatModel":
    from openai import Timeout

    from models.openai_chat import TranslatedChatOpenAI

    return TranslatedChatOpenAI(
        spec.endpoint(),
        model=spec.model,
        # Said outright, or the client reads the environment for itself.
        base_url=spec.base_url or OPENAI_URL,
        api_key=spec.api_key or SecretStr(NO_KEY),
        temperature=spec.temperature,
        max_tokens=spec.max_tokens,
        timeout=Timeout(spec.timeout_s, connect=min(CONNECT_TIMEOUT_S, spec.timeout_s)),
        stream_chunk_timeout=spec.timeout_s,
        max_retries=spec.retries,
        streaming=True,
        stream_usage=True,
        use_responses_api=False,
    )
