"""How the built-in answerer does on questions with a known answer, and without it.

A question is asked three times: of the whole set, without the article that answers it, and
without the paragraphs of that article that hold the answer. Only the first has an answer.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean

from langchain_core.documents import Document

from chains.extractive import ExtractiveAnswerer
from domain import Filter
from evaluation.datasets import LabelledQuestion, LabelledSet
from evaluation.metrics import holds_answer
from retrievers.passages import PassageRetriever
from retrievers.rankers import Ranker
from storage.passages import DeepLakePassages

PASSAGE, ARTICLE = "passage", "article"
"""The fields by which passages are left out."""


class Without(StrEnum):
    """What is left out of the set for a question."""

    NOTHING = "nothing"
    ARTICLE = "article"
    PARAGRAPH = "paragraph"


@dataclass(frozen=True)
class AnswerEvaluation:
    """Asks the questions of a labelled set; the passages' metadata hold `PASSAGE` and `ARTICLE`."""

    labelled: LabelledSet
    passages: DeepLakePassages
    rank: Ranker
    answerer: ExtractiveAnswerer
    top_k: int

    def figures(self, questions: Sequence[LabelledQuestion]) -> dict[str, str | int | float]:
        """The shares of questions, those without the answer only where the set has articles.

        `first_sentence_right`: the first quoted sentence holds a reference answer. `refused`: the
        answer is there and nothing was quoted. `answered_without_...`: it is not, and something
        was quoted.
        """
        quoted = [self._first_quote(question, Without.NOTHING) for question in questions]
        pairs = list(zip(quoted, questions, strict=True))
        figures: dict[str, str | int | float] = {
            "questions": len(questions),
            "first_sentence_right": fmean(holds_answer(text, one.answers) for text, one in pairs),
            "refused": fmean(not text for text in quoted),
        }
        if len({title for title, _ in self.labelled.corpus.values()}) > 1:
            for without in (Without.ARTICLE, Without.PARAGRAPH):
                answered = [bool(self._first_quote(one, without)) for one in questions]
                figures[f"answered_without_{without}"] = fmean(answered)
        return figures

    def found(self, question: LabelledQuestion, without: Without) -> list[Document]:
        """The passages found for a question, with their titles, best first."""
        retriever = PassageRetriever(
            rank=self.rank,
            hydrate=self.passages.get_by_ids,
            k=self.top_k,
            condition=self._condition(question, without),
        )
        found = retriever.invoke(question.text)
        for document in found:
            title, text = self.labelled.corpus[document.id or ""]
            document.page_content, document.metadata["title"] = text, title
        return found

    def _first_quote(self, question: LabelledQuestion, without: Without) -> str:
        best = self.answerer.best_sentences(question.text, self.found(question, without))
        return best[0].text if best else ""

    def _condition(self, question: LabelledQuestion, without: Without) -> Filter | None:
        corpus = self.labelled.corpus
        right = [item for item, grade in question.relevance.items() if grade > 0]
        articles = {corpus[item][0] for item in right}
        if without is Without.ARTICLE:
            return {ARTICLE: {"$nin": sorted(articles)}}
        if without is Without.PARAGRAPH:
            return {PASSAGE: {"$nin": sorted({*right, *self._holding(question, articles)})}}
        return None

    def _holding(self, question: LabelledQuestion, articles: set[str]) -> Iterator[str]:
        """The passages of these articles that hold a reference answer."""
        for item, (title, text) in self.labelled.corpus.items():
            if title in articles and holds_answer(text, question.answers):
                yield item
