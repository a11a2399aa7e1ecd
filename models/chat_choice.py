"""Which chat model answers where the settings name a server and no model."""

import threading
import time
from collections.abc import Collection, Sequence

from domain import EXTRACTIVE, Answerer
from models.chat import MODEL_SETTING, ChatSpec
from models.model_list import NoListError, listed_models
from models.openai_errors import OPENAI_URL, Endpoint

LOOK_AGAIN_S = 30.0
"""A server without a model to use is asked again after so long: it may have started late."""
FIRST_LOOK_S = 0.25
"""How long a page waits for the first list; it never waits for later ones."""
NAMES_SHOWN = 8


class ChatModelChoice:
    """The chat model of the settings, or the only one that their server offers.

    A server is asked for its models only where OPENAI_BASE_URL names one that is not OpenAI's own:
    a key alone may be in the environment for another program. Its only model, once found, is used
    as long as this process lives.
    """

    def __init__(self, spec: ChatSpec, other_models: Collection[str] = ()) -> None:
        """Nothing is sent yet.

        Args:
            spec: What the settings say.
            other_models: Names of models that the same server has for something else.

        Raises:
            ConfigError: The base URL or the key can be none.
        """
        self._spec = spec
        self._other_models = frozenset(other_models)
        self._needs_list = bool(spec.base_url) and not spec.model and not spec.endpoint().is_openai
        self._answerer = Answerer(EXTRACTIVE) if self._needs_list else _configured_answerer(spec)
        self._looked_at: float | None = None
        self._lock = threading.Lock()
        self._looking: threading.Thread | None = None

    def current(self) -> Answerer:
        """What is known now; the server is asked in the background where that is due."""
        if self._is_due() and not (self._looking and self._looking.is_alive()):
            is_first = self._looked_at is None
            self._looking = threading.Thread(target=self.settled, daemon=True)
            self._looking.start()
            if is_first:
                self._looking.join(FIRST_LOOK_S)
        return self._answerer

    def settled(self) -> Answerer:
        """What answers a question that is asked now.

        Where the server is to be asked this waits for it, `models.model_list.LIST_S` seconds at
        most.
        """
        with self._lock:
            if self._is_due():
                self._answerer = self._look()
                self._looked_at = time.monotonic()
            return self._answerer

    def _is_due(self) -> bool:
        if not self._needs_list or self._answerer.label != EXTRACTIVE:
            return False
        return self._looked_at is None or time.monotonic() - self._looked_at > LOOK_AGAIN_S

    def _look(self) -> Answerer:
        endpoint = self._spec.endpoint()
        try:
            listed = listed_models(endpoint)
        except NoListError as error:
            return _without_list(endpoint, str(error))
        return _chosen(endpoint, [name for name in listed if name not in self._other_models])


def _configured_answerer(spec: ChatSpec) -> Answerer:
    """What the settings alone decide."""
    if not spec.has_server:
        return Answerer(EXTRACTIVE)
    if spec.model:
        spec.endpoint()  # refuses a base URL or a key that can be none
        return Answerer(spec.model)
    # The key is not checked: it may be there for another program.
    setting = "OPENAI_API_KEY" if spec.api_key else "OPENAI_BASE_URL"
    host = Endpoint(spec.base_url or OPENAI_URL, "", MODEL_SETTING).host
    return Answerer(
        EXTRACTIVE,
        notice=f"{setting} is set, but FOOTNOTE_CHAT_MODEL is not, so answers come from the "
        f"built-in answerer and no question is sent to {host}. To use a model of {host}, name it "
        "in FOOTNOTE_CHAT_MODEL.",
    )


def _chosen(endpoint: Endpoint, names: Sequence[str]) -> Answerer:
    host = endpoint.host
    if not names:
        return Answerer(
            EXTRACTIVE,
            notice=f"FOOTNOTE_CHAT_MODEL is not set and {host} offers no chat model, so answers "
            "come from the built-in answerer. Load a model there, or name one in "
            "FOOTNOTE_CHAT_MODEL.",
        )
    if len(names) == 1:
        model = names[0]
        return Answerer(
            model,
            notice=f"FOOTNOTE_CHAT_MODEL is not set, so answers come from {model}, the only model "
            f"that {host} offers.",
        )
    shown = ", ".join(names[:NAMES_SHOWN]) + (", …" if len(names) > NAMES_SHOWN else "")
    return Answerer(
        EXTRACTIVE,
        notice=f"FOOTNOTE_CHAT_MODEL is not set and {host} offers {len(names)} models, so answers "
        f"come from the built-in answerer. Set FOOTNOTE_CHAT_MODEL to one of them: {shown}",
    )


def _without_list(endpoint: Endpoint, reason: str) -> Answerer:
    return Answerer(
        EXTRACTIVE,
        notice=f"FOOTNOTE_CHAT_MODEL is not set and {endpoint.host} does not list its models, so "
        f"answers come from the built-in answerer. {reason} Check OPENAI_BASE_URL "
        f"({endpoint.address}), or name the model in FOOTNOTE_CHAT_MODEL.",
    )
