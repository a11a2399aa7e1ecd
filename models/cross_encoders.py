"""Rerankers: fastembed's cross-encoders, and servers with the API of Cohere and Jina."""

import json
import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from langchain_core.cross_encoders import BaseCrossEncoder

from domain.errors import ConfigError, ModelError, ModelUnavailableError
from domain.logs import log_context, outgoing_request
from domain.messages import _
from domain.web.retry_after import retry_after_s
from models.embedding_models import near_names
from models.model_files import load_errors
from models.openai_errors import Endpoint, rate_limit_error, shown_words

if TYPE_CHECKING:
    import httpx
    from fastembed.rerank.cross_encoder import TextCrossEncoder


DEFAULT_MODEL = "Xenova/ms-marco-MiniLM-L-6-v2"
PAIRS_PER_BATCH = 8
"""A batch is padded to its longest pair and can't be interrupted, so small batches waste least."""


class CatalogCrossEncoder(BaseCrossEncoder):
    """Scores with a model that fastembed downloads when first used, or loads from `path`.

    `path` is a folder with the same layout as the download: onnx/model.onnx beside tokenizer.json
    and tokenizer_config.json. Downloads are kept in `cache_dir`. Scores are the model's own, for
    most models unbounded logits; higher is better, and only scores of the same question are
    comparable. Text that is too long for the model is cut at its end.
    """

    def __init__(self, model: str, cache_dir: Path, *, path: str | None = None) -> None:
        self._name = model
        self._cache_dir = cache_dir
        self._path = path
        self._lock = threading.Lock()
        self._loaded: TextCrossEncoder | None = None

    def score(self, text_pairs: list[tuple[str, str]]) -> list[float]:
        """The score of each pair of question and passage, in order.

        Raises:
            ModelUnavailableError: The model can't be downloaded or loaded.
            ModelError: The model is not a cross-encoder, or can't read a pair.
        """
        if not text_pairs:
            return []
        model = self._model()
        errors: tuple[type[Exception], ...] = (*load_errors(), IndexError, TypeError)
        try:
            return list(model.rerank_pairs(text_pairs, batch_size=PAIRS_PER_BATCH))
        except errors as error:
            raise ModelError(
                _(
                    "The reranker {name} can't score passages: {error}. Check that it is a"
                    " cross-encoder ({place})."
                ).format(name=self._name, error=error, place=self._place())
            ) from error

    def _model(self) -> "TextCrossEncoder":
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load()
            return self._loaded

    def _load(self) -> "TextCrossEncoder":
        from fastembed.rerank.cross_encoder import TextCrossEncoder

        try:
            return TextCrossEncoder(
                self._name, cache_dir=str(self._cache_dir), specific_model_path=self._path
            )
        # A damaged tokenizer raises a bare Exception, so no narrower class catches it.
        except Exception as error:
            raise ModelUnavailableError(
                _(
                    "The reranker {name} can't be loaded: {error}. It is downloaded once,"
                    " which requires internet access. Without internet access, put its files"
                    " in a folder, and set FOOTNOTE_RERANK_PATH to that folder ({place})."
                ).format(name=self._name, error=error, place=self._place())
            ) from error

    def _place(self) -> str:
        return _("currently {path}").format(path=self._path) if self._path else _("currently unset")


def check_name(model: str) -> None:
    """Raise ConfigError with similar names if fastembed has no cross-encoder of this name."""
    if model == DEFAULT_MODEL:  # importing fastembed takes most of a second
        return
    names = {name.lower(): name for name in _catalog()}
    if model.lower() in names:
        return
    raise ConfigError(
        _(
            "FOOTNOTE_RERANK_MODEL: fastembed has no cross-encoder {model}. Similar names:"
            " {near_names}. All names: {names}."
        ).format(
            model=repr(model), near_names=near_names(model, names), names=", ".join(names.values())
        )
    )


def _catalog() -> list[str]:
    from fastembed.rerank.cross_encoder import TextCrossEncoder

    return [entry["model"] for entry in TextCrossEncoder.list_supported_models()]


RETRIES = 2
FIRST_WAIT_S = 0.5
MAX_ANSWER_BYTES = 32 * 1024 * 1024
"""Some servers repeat every passage; a larger response is not a list of scores."""


class HostedReranker(BaseCrossEncoder):
    """Scores by a POST of {model, query, documents, top_n} to the endpoint's URL.

    Suitable servers are Cohere, Jina, and others with the same API, such as vLLM and Infinity. If
    the server is busy or fails (HTTP 408, 429, 5xx), the request is retried twice, after the delay
    in Retry-After. `endpoint.timeout_s` limits a request including its retries, so each question
    gets its answer or error within that time. Nothing is sent before the first pair.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        import httpx  # noqa: F401  # not in a thread: openai would find it half imported

        self._endpoint = endpoint

    def score(self, text_pairs: list[tuple[str, str]]) -> list[float]:
        """The relevance of each pair of question and passage according to the server, in order.

        Pairs with the same question share one request.

        Raises:
            ModelUnavailableError: The server can't be reached, is too slow or overloaded, or
                failed.
            ModelError: The server rejected the request, or did not return a finite score for each
                passage.
        """
        passages: dict[str, list[int]] = {}
        for place, (question, _unused) in enumerate(text_pairs):
            passages.setdefault(question, []).append(place)
        scores = [0.0] * len(text_pairs)
        for question, places in passages.items():
            found = self._rerank(question, [text_pairs[place][1] for place in places])
            for place, score in zip(places, found, strict=True):
                scores[place] = score
        return scores

    def _rerank(self, question: str, passages: list[str]) -> list[float]:
        body = {
            "model": self._endpoint.model,
            "query": question,
            "documents": passages,
            "top_n": len(passages),
        }
        answer = self._post(body, time.monotonic() + self._endpoint.timeout_s)
        try:
            return _scores(answer, len(passages))
        except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
            raise ModelError(
                _(
                    "{host} did not respond like a reranker, which returns results with an"
                    " index and a relevance_score for each passage ({error}). Check"
                    " {url_setting} ({address}) and {model_setting} ({model})."
                ).format(**self._endpoint.values, error=error)
            ) from error

    def _post(self, body: dict[str, Any], deadline: float) -> bytes:
        for attempt in range(RETRIES + 1):
            with log_context(attempt=attempt + 1):
                answer = self._send(body, deadline)
            if answer.status == 200:
                return answer.content
            requested_s = retry_after_s(answer.retry_after)
            wait = FIRST_WAIT_S * 2**attempt if requested_s is None else requested_s
            in_time = time.monotonic() + wait < deadline
            if attempt == RETRIES or not (answer.may_pass and in_time):
                break
            time.sleep(wait)
        raise _access_denied(answer, self._endpoint)

    def _send(self, body: dict[str, Any], deadline: float) -> "_Answer":
        left = max(deadline - time.monotonic(), 0.001)
        with (
            _http_errors(self._endpoint),
            outgoing_request("POST", self._endpoint.base_url) as sent,
            self._client.stream(
                "POST", self._endpoint.base_url, json=body, timeout=left
            ) as response,
        ):
            sent.status = response.status_code
            retry_after = response.headers.get("retry-after", "")
            return _Answer(response.status_code, retry_after, self._read(response, deadline))

    def _read(self, response: "httpx.Response", deadline: float) -> bytes:
        """Read the body by the deadline; the client's timeout would let it trickle in forever."""
        content = bytearray()
        for piece in response.iter_bytes():
            content += piece
            if time.monotonic() > deadline:
                raise _too_slow(self._endpoint)
            if len(content) > MAX_ANSWER_BYTES:
                raise ModelError(
                    _(
                        "{host} sent a response that is too large for a list of scores. Check"
                        " that it is a reranker."
                    ).format(host=self._endpoint.host)
                )
        return bytes(content)

    @cached_property
    def _client(self) -> "httpx.Client":
        import httpx

        key = self._endpoint.key.get_secret_value() if self._endpoint.key else ""
        return httpx.Client(headers={"Authorization": f"Bearer {key}"} if key else {})


class _Answer(NamedTuple):
    status: int
    retry_after: str
    content: bytes

    @property
    def may_pass(self) -> bool:
        return self.status in (408, 429) or self.status >= 500


def _scores(content: bytes, expected: int) -> list[float]:
    """The scores in the order of the passages; the response lists them best first.

    Error messages contain no values of the response, because a server may repeat the key anywhere.
    """
    scores: dict[int, float] = {}
    for result in json.loads(content)["results"]:
        index, score = result["index"], result["relevance_score"]
        if type(index) is not int or not 0 <= index < expected or index in scores:
            raise ValueError(f"an index is not one of {expected} passages, or occurs twice")
        if type(score) not in (int, float) or not math.isfinite(score):
            raise ValueError("a score is not a finite number")
        scores[index] = float(score)
    if len(scores) != expected:
        raise ValueError(f"{len(scores)} scores for {expected} passages")
    return [scores[index] for index in range(expected)]


@contextmanager
def _http_errors(endpoint: Endpoint) -> Iterator[None]:
    import httpx

    try:
        yield
    except (httpx.ConnectError, httpx.ConnectTimeout) as error:
        raise ModelUnavailableError(
            _(
                "{host} can't be reached. Check that the reranker is running and"
                " {url_setting} ({address}) is correct."
            ).format(**endpoint.values)
        ) from error
    except httpx.TimeoutException as error:
        raise _too_slow(endpoint) from error
    except httpx.HTTPError as error:
        raise ModelUnavailableError(
            _("{host} stopped responding: its response is incomplete.").format(host=endpoint.host)
        ) from error


def _too_slow(endpoint: Endpoint) -> ModelUnavailableError:
    return ModelUnavailableError(
        _(
            "{host} did not respond within {timeout_s} s. If the reranker is slow, raise"
            " FOOTNOTE_RERANK_BUDGET_S or lower FOOTNOTE_RERANK_DEPTH."
        ).format(**endpoint.values)
    )


def _access_denied(answer: _Answer, endpoint: Endpoint) -> ModelError:
    host, status = endpoint.host, answer.status
    details = shown_words(answer.content.decode(errors="replace"), endpoint)
    if status in (401, 403):
        # Not shown, because servers often repeat the key in their message.
        state = _("is not set") if endpoint.key is None else _("was rejected")
        return ModelError(
            _("{host} denied access (HTTP {status}): {key_setting} {state}.").format(
                **endpoint.values, status=status, state=state
            )
        )
    if status == 429:
        return rate_limit_error(host, answer.retry_after)
    if answer.may_pass:
        return ModelUnavailableError(
            _("{host} failed (HTTP {status}).{details}").format(
                host=host, status=status, details=details
            )
        )
    return ModelError(
        _(
            "{host} rejected the request (HTTP {status}).{details} Check {url_setting}"
            " ({address}) and {model_setting} ({model})."
        ).format(**endpoint.values, status=status, details=details)
    )
