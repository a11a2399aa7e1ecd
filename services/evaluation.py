"""Measuring search and answers on a labelled set, with the parts the product itself uses."""

import random
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean

from langchain_core.embeddings import Embeddings
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import Runnable

from chains.extractive import ExtractiveAnswerer
from domain import COMPARED_MODES, SearchMode
from errors import InputError
from evaluation.datasets import LabelledQuestion, LabelledSet, load_labelled_set
from evaluation.metrics import ndcg, recall
from retrievers.passages import PassageRetriever
from retrievers.rerank import Reranking
from services.answer_evaluation import ARTICLE, PASSAGE, AnswerEvaluation
from services.indexing import searchable_text
from services.progress import OnProgress, Progress, Stage
from services.ranking import OpenIndex, RankingOptions, build_ranker
from services.search import NO_RERANKER
from services.sweep import sweep
from storage.keyword_index import KeywordIndex
from storage.passages import DeepLakePassages

Figures = dict[str, str | int | float]
BATCH = 256
MEASURED = 10
"""So many passages are asked for; no figure looks at more."""
QUERIES = ("last", "history", "condensed", "rewrite")


@dataclass(frozen=True)
class EvaluationService:
    """Runs a labelled set through the search modes or the extractive answerer.

    `make_condenser` and `make_answerer` are given the set's keyword index, whose word
    statistics they may use.
    """

    embeddings: Embeddings
    known_scripts: frozenset[str] | None
    is_calibrated: bool
    options: RankingOptions
    top_k: int
    make_condenser: Callable[[KeywordIndex], Runnable[dict[str, object], str]]
    make_answerer: Callable[[KeywordIndex], ExtractiveAnswerer]
    reranking: Reranking | None = None

    def measure_search(
        self,
        folder: Path,
        modes: Sequence[SearchMode] | None,
        queries: str = "last",
        sample: int | None = None,
        *,
        rerank: bool = False,
        on_progress: OnProgress,
    ) -> list[Figures]:
        """nDCG@10, Recall@5, Recall@10 and milliseconds per query, a row for each mode.

        `queries` says what is searched: the question as typed (`last`), all that was said and
        then the question (`history`), the question condensed with its history (`condensed`) or
        a person's rewrite (`rewrite`). The time holds embedding the question and searching, not
        condensing. With `rerank` what each mode finds is reranked, title and text together.

        Raises:
            InputError: The folder can't be read, no question of it has a judged passage,
                `queries` is not one of the four, or `rerank` is asked for and no reranker set.
        """
        if rerank and self.reranking is None:
            raise InputError(NO_RERANKER)
        with self._asked(folder, queries, sample, on_progress) as (index, asked, texts):
            return [
                _measure(mode, self._make_search(mode, index, rerank), asked, texts)
                for mode in modes or COMPARED_MODES
            ]

    def _make_search(
        self, mode: SearchMode, index: OpenIndex, rerank: bool
    ) -> Callable[[str], list[str]]:
        rank = build_ranker(mode, index, self.options)
        if not rerank or self.reranking is None:
            return lambda text: [hit.id for hit in rank(text, MEASURED, None)]
        base = PassageRetriever(rank=rank, hydrate=index.passages.get_by_ids, k=MEASURED)
        reranked = self.reranking.over(base, MEASURED)
        return lambda text: [passage.id or "" for passage in reranked.invoke(text)]

    def sweep(
        self,
        folder: Path,
        queries: str = "last",
        sample: int | None = None,
        *,
        on_progress: OnProgress,
    ) -> list[Figures]:
        """nDCG@10 of each fusion setting of `services.sweep`, a row for each, best first.

        Raises:
            InputError: As `measure_search`.
        """
        with self._asked(folder, queries, sample, on_progress) as (index, asked, texts):
            tried = sweep(index, asked, texts)
        rows = [asdict(one) | {"queries": len(asked)} for one in tried]
        return sorted(rows, key=lambda row: -row["ndcg_at_10"])

    def measure_answers(
        self, folder: Path, sample: int | None = None, *, on_progress: OnProgress
    ) -> Figures:
        """How often the first quoted sentence is right, and how often there should be none.

        See `services.answer_evaluation`.

        Raises:
            InputError: The set has no reference answers.
        """
        labelled = load_labelled_set(folder)
        asked = [question for question in labelled.questions if question.answers]
        if not asked:
            raise InputError(f"{folder} has no reference answers to measure against")
        with self._indexed(labelled, on_progress) as index:
            rank = build_ranker(SearchMode.CONVEX, index, self.options)
            answerer = self.make_answerer(index.keywords)
            evaluation = AnswerEvaluation(labelled, index.passages, rank, answerer, self.top_k)
            return evaluation.figures(_sampled(asked, sample))

    @contextmanager
    def _asked(
        self, folder: Path, queries: str, sample: int | None, on_progress: OnProgress
    ) -> Iterator[tuple[OpenIndex, list[LabelledQuestion], list[str]]]:
        """The set's index, the questions, and what is searched for each."""
        if queries not in QUERIES:  # told before minutes of indexing
            raise InputError(f"--queries is last, history, condensed or rewrite, not {queries}")
        labelled = load_labelled_set(folder)
        if not labelled.questions:
            raise InputError(f"{folder} has no question with a judged passage to measure with")
        with self._indexed(labelled, on_progress) as index:
            asked = _sampled(labelled.questions, sample)
            yield index, asked, [self._query(one, queries, index.keywords) for one in asked]

    def _query(self, question: LabelledQuestion, queries: str, keywords: KeywordIndex) -> str:
        if queries == "last":
            return question.text
        if queries == "rewrite":
            return question.rewrite or question.text
        if queries == "condensed":
            return self._condense(question, keywords)
        return "\n".join([text for _, text in question.history] + [question.text])

    def _condense(self, question: LabelledQuestion, keywords: KeywordIndex) -> str:
        if not question.history:
            return question.text
        history = [
            HumanMessage(text) if role == "user" else AIMessage(text)
            for role, text in question.history
        ]
        condenser = self.make_condenser(keywords)
        return condenser.invoke({"question": question.text, "chat_history": history})

    @contextmanager
    def _indexed(self, labelled: LabelledSet, on_progress: OnProgress) -> Iterator[OpenIndex]:
        with tempfile.TemporaryDirectory(prefix="footnote-evaluate-") as folder:
            passages = DeepLakePassages(Path(folder) / "passages", self.embeddings)
            keywords = KeywordIndex(Path(folder) / "keywords")
            entries = [
                (item, searchable_text(title, (), text))
                for item, (title, text) in labelled.corpus.items()
            ]
            for start in range(0, len(entries), BATCH):
                batch = entries[start : start + BATCH]
                passages.add_texts(
                    [text for _, text in batch],
                    [{PASSAGE: item, ARTICLE: labelled.corpus[item][0]} for item, _ in batch],
                    ids=[item for item, _ in batch],
                )
                on_progress(Progress(Stage.INDEXING, start + len(batch), len(entries)))
            keywords.add(entries)
            yield OpenIndex(passages, keywords, self.known_scripts, self.is_calibrated)


def _sampled(questions: list[LabelledQuestion], sample: int | None) -> list[LabelledQuestion]:
    if sample is None or sample >= len(questions):
        return questions
    return random.Random(0).sample(questions, sample)  # noqa: S311  # a seeded sample, no secret


def _measure(
    mode: SearchMode,
    search: Callable[[str], list[str]],
    asked: Sequence[LabelledQuestion],
    texts: Sequence[str],
) -> Figures:
    started = time.perf_counter()
    rankings = [search(text) for text in texts]
    seconds = time.perf_counter() - started
    judged = [question.relevance for question in asked]

    def mean(figure: Callable[..., float], k: int) -> float:
        return fmean(
            figure(ranking, grades, k) for ranking, grades in zip(rankings, judged, strict=True)
        )

    return {
        "mode": mode.value,
        "queries": len(asked),
        "ndcg_at_10": mean(ndcg, 10),
        "recall_at_5": mean(recall, 5),
        "recall_at_10": mean(recall, 10),
        "ms_per_query": 1000 * seconds / len(asked),
    }
