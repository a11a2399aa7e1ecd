"""Measures how the built-in answerer handles questions with and without an available answer.

Each question is asked three times: on the whole set, without the article that answers it, and
without the paragraphs of that article that contain the answer. Only the whole set has the answer.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean

from langchain_core.documents import Document

from chains.extractive.extractive_answerer import ExtractiveAnswerer
from domain import Filter
from retrievers.passage_retrievers import PassageRetriever
from retrievers.rankers import Ranker
from services.evaluation.datasets import LabeledQuestion, LabeledSet
from services.evaluation.metrics import Figures, holds_answer
from storage.vectors.passage_vector_store import PassageVectorStore

PASSAGE, ARTICLE = "passage", "article"
"""The metadata fields by which passages are excluded."""


class Without(StrEnum):
    """The part of the set that is excluded when a question is asked."""

    NOTHING = "nothing"
    ARTICLE = "article"
    PARAGRAPH = "paragraph"


@dataclass(frozen=True)
class AnswerEvaluation:
    """Asks the questions of a labeled set.

    The metadata of `passages` contains `PASSAGE` and `ARTICLE`.
    """

    labeled: LabeledSet
    passages: PassageVectorStore
    rank: Ranker
    answerer: ExtractiveAnswerer
    top_k: int

    def figures(self, questions: Sequence[LabeledQuestion]) -> Figures:
        """Compute the number of questions, and shares of them from 0 to 1.

        - `first_sentence_right`: the first quoted sentence contains a reference answer.
        - `refused`: nothing was quoted although the answer was available.
        - `answered_without_article`, `answered_without_paragraph`: something was quoted although
          the answer was excluded; only if the set has several articles.
        """
        quoted = [self._first_quote(question, Without.NOTHING) for question in questions]
        pairs = list(zip(quoted, questions, strict=True))
        figures: Figures = {
            "questions": len(questions),
            "first_sentence_right": fmean(holds_answer(text, one.answers) for text, one in pairs),
            "refused": fmean(not text for text in quoted),
        }
        if len({title for title, _ in self.labeled.corpus.values()}) > 1:
            for without in (Without.ARTICLE, Without.PARAGRAPH):
                answered = [bool(self._first_quote(one, without)) for one in questions]
                figures[f"answered_without_{without}"] = fmean(answered)
        return figures

    def retrieve(self, question: LabeledQuestion, without: Without) -> list[Document]:
        """Retrieve the passages for a question, best first, with their titles."""
        retriever = PassageRetriever(
            rank=self.rank,
            hydrate=self.passages.get_by_ids,
            k=self.top_k,
            condition=self._condition(question, without),
        )
        documents = retriever.invoke(question.text)
        for document in documents:
            title, text = self.labeled.corpus[document.id or ""]
            document.page_content, document.metadata["title"] = text, title
        return documents

    def _first_quote(self, question: LabeledQuestion, without: Without) -> str:
        best = self.answerer.best_sentences(question.text, self.retrieve(question, without))
        return best[0].text if best else ""

    def _condition(self, question: LabeledQuestion, without: Without) -> Filter | None:
        corpus = self.labeled.corpus
        right = [item for item, grade in question.relevance.items() if grade > 0]
        articles = {corpus[item][0] for item in right}
        if without is Without.ARTICLE:
            return {ARTICLE: {"$nin": sorted(articles)}}
        if without is Without.PARAGRAPH:
            return {PASSAGE: {"$nin": sorted({*right, *self._holding(question, articles)})}}
        return None

    def _holding(self, question: LabeledQuestion, articles: set[str]) -> Iterator[str]:
        """The passages of these articles that contain a reference answer."""
        for item, (title, text) in self.labeled.corpus.items():
            if title in articles and holds_answer(text, question.answers):
                yield item
