"""Reranking on top of any retriever, within a time budget."""

import math
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.cross_encoders import BaseCrossEncoder
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableConfig
from pydantic import Field

from errors import ModelError
from retrievers.counted import CountedRetriever

PAIRS_PER_BATCH = 8


class RerankRetriever(CountedRetriever):
    """The best `depth` passages of `base`, in the order of a cross-encoder's scores.

    Each passage tells in its metadata what moved it: `rerank` holds the cross-encoder's `score`
    (compared within one call only), its new `rank` and `rank_before`, both from 1. Equal scores
    keep the order of `base`, whose own `score` and `parts` stay as they are.

    Where scoring takes longer than `budget_s` or fails, all passages keep the order of `base`,
    and where `k` is above `depth` those below it do: `rerank` then holds `skipped`, the reason.
    A batch under way when the budget runs out is finished beside, and its scores are dropped.
    """

    base: BaseRetriever
    """Takes `k` when it is invoked."""
    cross_encoder: BaseCrossEncoder
    depth: int = Field(50, ge=1)
    budget_s: float = Field(10, gt=0)
    pairs_per_batch: int = Field(PAIRS_PER_BATCH, ge=1)

    def _find(
        self, query: str, k: int, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        config: RunnableConfig = {"callbacks": run_manager.get_child()}
        return self._reranked(query, self.base.invoke(query, config, k=max(k, self.depth)))[:k]

    def _reranked(self, query: str, found: list[Document]) -> list[Document]:
        near, rest = found[: self.depth], found[self.depth :]
        if not near:
            return []
        try:
            pairs = [(query, document.page_content) for document in near]
            scores = scores_in_time(self.cross_encoder, pairs, self.budget_s, self.pairs_per_batch)
        except ModelError as error:
            return _skipped(found, str(error))
        below = f"Only the first {self.depth} passages are reranked."
        return _in_order_of(scores, near) + _skipped(rest, below)


@dataclass(frozen=True)
class Reranking:
    """A reranker with its limits, to be put on top of retrievers."""

    cross_encoder: BaseCrossEncoder
    depth: int
    budget_s: float
    pairs_per_batch: int = PAIRS_PER_BATCH

    def over(self, base: BaseRetriever, k: int) -> RerankRetriever:
        """The retriever that reranks what `base` finds."""
        return RerankRetriever(base=base, k=k, **vars(self))

    def scores(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """The cross-encoder's scores of pairs of question and text; see `scores_in_time`."""
        return scores_in_time(self.cross_encoder, pairs, self.budget_s, self.pairs_per_batch)


def scores_in_time(
    cross_encoder: BaseCrossEncoder,
    pairs: Sequence[tuple[str, str]],
    budget_s: float,
    pairs_per_batch: int,
) -> list[float]:
    """The scores of the pairs in their order, compared within one call only.

    A batch under way when the budget runs out is finished beside, and its scores are dropped.

    Raises:
        ModelError: It took longer than `budget_s`, or the model failed.
    """
    # In a thread of its own, since loading a model or a batch can't be interrupted. No pool: the
    # interpreter waits at its end for a pool's threads, however slow they are.
    scores: Future[list[float]] = Future()
    stop = threading.Event()

    def work() -> None:
        try:
            scores.set_result(_score_batches(cross_encoder, pairs, pairs_per_batch, stop))
        except BaseException as error:  # noqa: BLE001  # raised where the scores are awaited
            scores.set_exception(error)

    threading.Thread(target=work, name="rerank", daemon=True).start()
    try:
        return scores.result(budget_s)
    except TimeoutError as error:
        raise ModelError(f"Reranking took longer than {budget_s:g} s.") from error
    finally:
        stop.set()


def _score_batches(
    cross_encoder: BaseCrossEncoder,
    pairs: Sequence[tuple[str, str]],
    pairs_per_batch: int,
    stop: threading.Event,
) -> list[float]:
    scores: list[float] = []
    for start in range(0, len(pairs), pairs_per_batch):
        if stop.is_set():
            break
        batch = list(pairs[start : start + pairs_per_batch])
        scores += _checked(cross_encoder.score(batch), len(batch))
    return scores


def _checked(scores: list[float], wanted: int) -> list[float]:
    if len(scores) != wanted:
        raise ModelError(f"The reranker gave {len(scores)} scores for {wanted} passages.")
    wrong = [score for score in scores if not math.isfinite(score)]
    if wrong:
        raise ModelError(f"The reranker gave {wrong[0]} as a score.")
    return [float(score) for score in scores]


def _in_order_of(scores: list[float], found: list[Document]) -> list[Document]:
    order = sorted(range(len(found)), key=lambda place: -scores[place])
    return [
        _told(found[place], {"score": scores[place], "rank": rank, "rank_before": place + 1})
        for rank, place in enumerate(order, start=1)
    ]


def _skipped(found: list[Document], reason: str) -> list[Document]:
    return [_told(document, {"skipped": reason}) for document in found]


def _told(document: Document, rerank: dict[str, Any]) -> Document:
    return document.model_copy(update={"metadata": {**document.metadata, "rerank": rerank}})
