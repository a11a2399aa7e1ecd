"""A reranker behind a URL: Cohere, Jina, and the servers that speak as they do (vLLM, Infinity)."""

import json
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from langchain_core.cross_encoders import BaseCrossEncoder

from errors import ModelError, ModelUnavailableError
from models.openai_errors import Endpoint, shown_words

if TYPE_CHECKING:
    import httpx

RETRIES = 2
FIRST_WAIT_S = 0.5
MAX_ANSWER_BYTES = 32 * 1024 * 1024
"""Some servers repeat every passage; more than this is no list of scores."""


class HostedReranker(BaseCrossEncoder):
    """Scores by POST of {model, query, documents, top_n} to the endpoint's URL.

    A busy or failing server (HTTP 408, 429, 5xx) is asked twice more, after the time it names in
    Retry-After. `endpoint.timeout_s` bounds a request with all of that: each question has its
    answer or its error within it. Nothing is sent before the first pair.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        import httpx  # noqa: F401  # here, not in a thread: openai would meet it half imported

        self._endpoint = endpoint

    def score(self, text_pairs: list[tuple[str, str]]) -> list[float]:
        """The server's relevance for each pair of question and passage, in their order.

        Pairs with the same question make one request.

        Raises:
            ModelUnavailableError: The server can't be reached, is too slow, overloaded or broke.
            ModelError: It refused, or its answer is not a finite score for each passage.
        """
        passages: dict[str, list[int]] = {}
        for place, (question, _) in enumerate(text_pairs):
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
                f"{self._endpoint.host} does not answer as a reranker does, with an index and a "
                f"relevance_score in results for each passage ({error}). Check "
                f"{self._endpoint.url_setting} ({self._endpoint.address}) and "
                f"{self._endpoint.model_setting} ({self._endpoint.model})."
            ) from error

    def _post(self, body: dict[str, Any], deadline: float) -> bytes:
        for attempt in range(RETRIES + 1):
            answer = self._send(body, deadline)
            if answer.status == 200:
                return answer.content
            wait = _wait_s(answer.retry_after, attempt)
            in_time = time.monotonic() + wait < deadline
            if attempt == RETRIES or not (answer.may_pass and in_time):
                break
            time.sleep(wait)
        raise _refused(answer, self._endpoint)

    def _send(self, body: dict[str, Any], deadline: float) -> "_Answer":
        left = max(deadline - time.monotonic(), 0.001)
        with (
            _http_errors(self._endpoint),
            self._client.stream(
                "POST", self._endpoint.base_url, json=body, timeout=left
            ) as response,
        ):
            retry_after = response.headers.get("retry-after", "")
            return _Answer(response.status_code, retry_after, self._read(response, deadline))

    def _read(self, response: "httpx.Response", deadline: float) -> bytes:
        """The client's own limit is for each piece: one that drips would never end."""
        content = bytearray()
        for piece in response.iter_bytes():
            content += piece
            if time.monotonic() > deadline:
                raise _too_slow(self._endpoint)
            if len(content) > MAX_ANSWER_BYTES:
                raise ModelError(f"{self._endpoint.host} sends too much to be a list of scores.")
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


def _scores(content: bytes, wanted: int) -> list[float]:
    """The scores in the order of the passages; the answer lists them best first.

    Its values are in no message: a server may repeat the key anywhere.
    """
    scores: dict[int, float] = {}
    for result in json.loads(content)["results"]:
        index, score = result["index"], result["relevance_score"]
        if type(index) is not int or not 0 <= index < wanted or index in scores:
            raise ValueError(f"an index is none of {wanted} passages, or comes twice")
        if type(score) not in (int, float) or not math.isfinite(score):
            raise ValueError("a score is no finite number")
        scores[index] = float(score)
    if len(scores) != wanted:
        raise ValueError(f"{len(scores)} scores for {wanted} passages")
    return [scores[index] for index in range(wanted)]


def _wait_s(retry_after: str, attempt: int) -> float:
    """Retry-After holds seconds or a date; where it is missing the wait doubles."""
    try:
        seconds = float(retry_after)
    except ValueError:
        return _until(retry_after) if retry_after else FIRST_WAIT_S * 2**attempt
    return max(seconds, 0.0) if math.isfinite(seconds) else math.inf


def _until(date: str) -> float:
    try:
        told = parsedate_to_datetime(date)
    except ValueError:
        return FIRST_WAIT_S
    then = told if told.tzinfo else told.replace(tzinfo=UTC)  # "-0000": UTC of an unknown place
    return max((then - datetime.now(UTC)).total_seconds(), 0.0)


@contextmanager
def _http_errors(endpoint: Endpoint) -> Iterator[None]:
    import httpx

    try:
        yield
    except (httpx.ConnectError, httpx.ConnectTimeout) as error:
        raise ModelUnavailableError(
            f"{endpoint.host} can't be reached. Check that the reranker is running and "
            f"{endpoint.url_setting} ({endpoint.address}) is right."
        ) from error
    except httpx.TimeoutException as error:
        raise _too_slow(endpoint) from error
    except httpx.HTTPError as error:
        raise ModelUnavailableError(
            f"{endpoint.host} broke off: its answer ended without finishing."
        ) from error


def _too_slow(endpoint: Endpoint) -> ModelUnavailableError:
    return ModelUnavailableError(
        f"{endpoint.host} did not answer within {endpoint.timeout_s:g} s. If it is a slow "
        f"reranker, raise FOOTNOTE_RERANK_BUDGET_S or lower FOOTNOTE_RERANK_DEPTH."
    )


def _refused(answer: _Answer, endpoint: Endpoint) -> ModelError:
    host, status = endpoint.host, answer.status
    said = shown_words(answer.content.decode(errors="replace"), endpoint)
    if status in (401, 403):
        # Servers like to repeat the key in their message, so it isn't shown.
        state = "is not set" if endpoint.key is None else "was refused"
        return ModelError(f"{host} refuses access (HTTP {status}): {endpoint.key_setting} {state}.")
    if status == 429:
        when = f"Try again after {answer.retry_after}" if answer.retry_after else "Try again soon"
        unit = " s" if answer.retry_after.isdecimal() else ""
        return ModelUnavailableError(
            f"{host} takes no more requests for now (HTTP 429). {when}{unit}."
        )
    if answer.may_pass:
        return ModelUnavailableError(f"{host} failed (HTTP {status}).{said}")
    return ModelError(
        f"{host} refuses the request (HTTP {status}).{said} Check {endpoint.url_setting} "
        f"({endpoint.address}) and {endpoint.model_setting} ({endpoint.model})."
    )
