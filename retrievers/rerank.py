"""Reranks the results of any retriever within a time budget."""

import math
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future
from contextvars import copy_context
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun as AsyncRun
from langchain_core.callbacks import CallbackManagerForRetrieverRun as Run
from langchain_core.documents import Document
from langchain_core.retrievers import RetrieverLike
from langchain_core.runnables.config import run_in_executor
from pydantic import Field

from domain.errors import ModelError
from domain.logs import elapsed_ms, get_logger
from domain.messages import _
from retrievers.passage_retrievers import (
    BaseComposedRetriever,
    search,
    search_async,
    search_depth,
    with_metadata,
)

PAIRS_PER_BATCH = 8
_log = get_logger("questions")


@runtime_checkable
class CrossEncoder(Protocol):
    """A cross-encoder of any package: LangChain has two base classes for them."""

    def score(self, text_pairs: list[tuple[str, str]]) -> list[float]:
        """The relevance of each text to its question; the larger, the better."""


class RerankRetriever(BaseComposedRetriever):
    """The best `depth` passages of `base`, in the order of a cross-encoder's scores.

    In the metadata of each passage, `rerank` contains the cross-encoder's `score` (comparable
    within one call only), the new `rank`, and `rank_before`, both from 1. Equal scores keep the
    order of `base`, whose `score` and `parts` do not change.

    If scoring fails or takes longer than `budget_s`, all passages keep the order of `base`.
    Passages below `depth` always keep it. In both cases, `rerank` contains the reason as `skipped`.
    A batch that is running when the budget ends is completed in the background, and its scores are
    discarded.
    """

    base: RetrieverLike
    cross_encoder: CrossEncoder
    depth: int = Field(50, ge=1)
    budget_s: float = Field(10, gt=0)
    pairs_per_batch: int = Field(PAIRS_PER_BATCH, ge=1)

    def _find(self, query: str, k: int | None, run_manager: Run) -> list[Document]:
        deep = search_depth(k, self.depth)
        return self._rerank(query, search(self.base, query, deep, run_manager.get_child()))

    async def _afind(self, query: str, k: int | None, run_manager: AsyncRun) -> list[Document]:
        deep = search_depth(k, self.depth)
        documents = await search_async(self.base, query, deep, run_manager.get_child())
        return await run_in_executor(None, self._rerank, query, documents)

    def _rerank(self, query: str, documents: list[Document]) -> list[Document]:
        near, rest = documents[: self.depth], documents[self.depth :]
        if not near:
            return []
        began = time.perf_counter()
        try:
            pairs = [(query, document.page_content) for document in near]
            scores = scores_in_time(self.cross_encoder, pairs, self.budget_s, self.pairs_per_batch)
        except ModelError as error:
            _log.warning("reranking skipped", reason=str(error), rerank_ms=elapsed_ms(began))
            return _skip(documents, str(error))
        _log.info("passages reranked", passages=len(near), rerank_ms=elapsed_ms(began))
        below = _("Only the first {depth} passages were reranked.").format(depth=self.depth)
        return _in_order_of(scores, near) + _skip(rest, below)


@dataclass(frozen=True)
class Reranking:
    """A reranker with its limits, applied to retrievers."""

    cross_encoder: CrossEncoder
    depth: int
    budget_s: float
    pairs_per_batch: int = PAIRS_PER_BATCH

    def over(self, base: RetrieverLike, k: int) -> RerankRetriever:
        """A retriever that reranks the results of `base`."""
        return RerankRetriever(base=base, k=k, **vars(self))

    def scores(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """The cross-encoder's scores of pairs of question and text; see `scores_in_time`."""
        return scores_in_time(self.cross_encoder, pairs, self.budget_s, self.pairs_per_batch)


def scores_in_time(
    cross_encoder: CrossEncoder,
    pairs: Sequence[tuple[str, str]],
    budget_s: float,
    pairs_per_batch: int,
) -> list[float]:
    """The scores of the pairs in order, comparable within one call only.

    A batch that is running when the budget ends is completed in the background and discarded.

    Raises:
        ModelError: It took longer than `budget_s`, or the model failed.
    """
    # In a thread, because loading a model and scoring a batch can't be interrupted. Not in a pool,
    # because the interpreter waits at exit for the threads of a pool.
    scores: Future[list[float]] = Future()
    stop = threading.Event()

    def work() -> None:
        try:
            scores.set_result(_score_batches(cross_encoder, pairs, pairs_per_batch, stop))
        except BaseException as error:  # noqa: BLE001  # raised where the scores are awaited
            scores.set_exception(error)

    threading.Thread(target=copy_context().run, args=[work], name="rerank", daemon=True).start()
    try:
        return scores.result(budget_s)
    except TimeoutError as error:
        raise ModelError(
            _("Reranking took longer than {budget_s} s.").format(budget_s=f"{budget_s:g}")
        ) from error
    finally:
        stop.set()


def _score_batches(
    cross_encoder: CrossEncoder,
    pairs: Sequence[tuple[str, str]],
    pairs_per_batch: int,
    stop: threading.Event,
) -> list[float]:
    scores: list[float] = []
    for start in range(0, len(pairs), pairs_per_batch):
        if stop.is_set():
            break
        batch = list(pairs[start : start + pairs_per_batch])
        scores += _check(cross_encoder.score(batch), len(batch))
    return scores


def _check(scores: list[float], expected: int) -> list[float]:
    if len(scores) != expected:
        raise ModelError(
            _("The reranker returned {scores} scores for {expected} passages.").format(
                scores=len(scores), expected=expected
            )
        )
    wrong = [score for score in scores if not math.isfinite(score)]
    if wrong:
        raise ModelError(_("The reranker returned {wrong} as a score.").format(wrong=wrong[0]))
    return [float(score) for score in scores]


def _in_order_of(scores: list[float], documents: list[Document]) -> list[Document]:
    order = sorted(range(len(documents)), key=lambda place: -scores[place])
    return [
        with_metadata(
            documents[place],
            rerank={"score": scores[place], "rank": rank, "rank_before": place + 1},
        )
        for rank, place in enumerate(order, start=1)
    ]


def _skip(documents: list[Document], reason: str) -> list[Document]:
    return [with_metadata(document, rerank={"skipped": reason}) for document in documents]
