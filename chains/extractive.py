"""The built-in answerer: quotes the sentences that answer, and needs no language model."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from operator import mul
from typing import Any

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.messages import AIMessageChunk
from langchain_core.runnables import Runnable, RunnableConfig

from chains.answer_decision import log_odds, measures_of
from chains.citations import shown_text
from chains.follow_ups import Idf
from chains.history import questions
from chains.quotes import find_quote
from chains.sentence_scores import ScoredSentence, headings_above, score_sentences
from chains.visible_text import VisibleText, shown
from chains.written_answer import citation, quotation
from domain import EXTRACTIVE
from language.script import script_of

MAX_SENTENCES = 3
RELEVANT_SHARE = 0.2
"""Where nothing is known about the library's words, nothing is quoted below this share."""
COSINE_WEIGHT = 0.8
"""What likeness in meaning adds to a sentence's score."""
COMPARED = 12
"""How many of the best sentences are embedded; more changed nothing."""
KEPT_SHARE = 0.8
"""A further sentence is quoted where its score is at least this part of the best one's."""

_NOTHING_FOUND = {
    "korean": "문서에서 이 질문에 답하는 내용을 찾지 못했습니다.",
    "japanese": "この質問に答える記述は、文書の中に見つかりませんでした。",
    # Han characters alone are far more often a short Japanese question here.
    "chinese": "この質問に答える記述は、文書の中に見つかりませんでした。",
}
_NOTHING_FOUND_ENGLISH = "I found nothing in the documents that answers this question."
# "WireGuard設定は？" is Japanese, however long the names of products in it are.
_LATIN_NAME = re.compile(r"(?<![A-Za-z])[A-Z][A-Za-z0-9_.-]*")
# Inner quotation marks become single ones, so that the outer pair is plain to see.
_INNER = str.maketrans(dict.fromkeys('"“”„‟', "'"))


@dataclass(frozen=True, slots=True)
class QuotedSentence:
    """A sentence to quote from document `n` (from 1), as it is shown."""

    n: int
    text: str
    score: float


class ExtractiveAnswerer(Runnable[dict[str, Any], AIMessageChunk]):
    """Answers with up to three sentences of the sources, each quoted with its number.

    Takes `question`, `input_documents`, numbered from 1 in their order, and perhaps
    `chat_history` and `typed_question`. Where no sentence shares enough with the question it says
    so, in the language of the question as it was typed, and cites nothing.
    """

    def __init__(
        self,
        idf: Idf | None = None,
        embeddings: Embeddings | None = None,
        *,
        knows_meaning: bool = False,
    ) -> None:
        """Works without either, a little less surely.

        Args:
            idf: The library's word statistics, to tell an unanswerable question.
            embeddings: Gives texts in a language it does not know the zero vector.
            knows_meaning: Whether its cosines are those that the decision was fitted on.
        """
        self._idf = idf
        self._embeddings = embeddings
        self._knows_meaning = knows_meaning

    def invoke(
        self, input: dict[str, Any], config: RunnableConfig | None = None, **kwargs: Any
    ) -> AIMessageChunk:
        """The whole answer at once."""
        first, *others = self.stream(input, config, **kwargs)
        return sum(others, first)

    def stream(
        self,
        input: dict[str, Any],
        config: RunnableConfig | None = None,  # noqa: ARG002  # the signature is LangChain's
        **kwargs: Any,  # noqa: ARG002  # the same
    ) -> Iterator[AIMessageChunk]:
        """The answer, a piece for each sentence; the last piece says that it is whole.

        Each sentence's `additional_kwargs` hold under `citations` its annotation, a standard
        `Citation` whose indices count in the whole answer; `extras["n"]` is the document's number.
        """
        question = input["question"]
        earlier = questions(input.get("chat_history") or ())
        sentences = self.best_sentences(question, input["input_documents"], earlier)
        written = 0
        for sentence in sentences:
            separator = "\n\n" if written else ""
            text = separator + shown_text(quotation(sentence.n, sentence.text))
            cited = citation(sentence.n, sentence.text, written + len(separator))
            yield AIMessageChunk(content=text, additional_kwargs={"citations": [cited]})
            written += len(text)
        if not sentences:
            yield AIMessageChunk(content=nothing_found(input.get("typed_question") or question))
        yield AIMessageChunk(
            content="",
            response_metadata={"model_name": EXTRACTIVE, "finish_reason": "stop"},
            chunk_position="last",
        )

    def best_sentences(
        self, question: str, documents: Sequence[Document], earlier: Sequence[str] = ()
    ) -> list[QuotedSentence]:
        """The sentences worth quoting, best first; each is found in its document again.

        `earlier` holds the questions before this one, whose words count less.
        """
        scored = self.scored(question, documents, earlier)
        if not scored or not self._is_answered(question, documents, scored[0]):
            return []
        chosen: list[QuotedSentence] = []
        seen: set[str] = set()
        best: ScoredSentence | None = None
        for sentence in scored:
            if len(chosen) == MAX_SENTENCES:
                break
            if not _is_worth_it(sentence, best):
                continue
            text = documents[sentence.n - 1].page_content
            quote = shown(text[sentence.start : sentence.end]).translate(_INNER)
            form = VisibleText(quote).form
            if form not in seen and find_quote(text, quote):
                best = best or sentence
                seen.add(form)
                chosen.append(QuotedSentence(sentence.n, quote, sentence.score))
        return chosen

    def scored(
        self, question: str, documents: Sequence[Document], earlier: Sequence[str] = ()
    ) -> list[ScoredSentence]:
        """Every sentence that could be quoted, best first, whether it answers or not."""
        return self._compared(question, documents, score_sentences(question, documents, earlier))

    def _is_answered(
        self, question: str, documents: Sequence[Document], best: ScoredSentence
    ) -> bool:
        if self._idf is None:
            return best.share >= RELEVANT_SHARE
        measures = measures_of(question, documents, best, self._idf)
        known = self._knows_meaning and bool(best.cosine)
        passage = documents[best.n - 1].page_content
        return log_odds(question, measures, passage, knows_meaning=known) > 0

    def _compared(
        self, question: str, documents: Sequence[Document], scored: list[ScoredSentence]
    ) -> list[ScoredSentence]:
        """The sentences with the likeness in meaning of the best ones added."""
        if self._embeddings is None or not scored:
            return scored
        best, others = scored[:COMPARED], scored[COMPARED:]
        asked = self._embeddings.embed_query(question)
        vectors = self._embeddings.embed_documents(
            [_below_its_heading(documents[one.n - 1], one) for one in best]
        )
        cosines = [_cosine(asked, vector) for vector in vectors]
        compared = [
            replace(one, score=one.score + COSINE_WEIGHT * cosine, cosine=cosine)
            for one, cosine in zip(best, cosines, strict=True)
        ]
        return sorted(compared, key=lambda one: -one.score) + others


def _below_its_heading(document: Document, sentence: ScoredSentence) -> str:
    """The sentence as it is compared: alone, few sentences say what they are about."""
    above = headings_above(document).splitlines()
    text = document.page_content[sentence.start : sentence.end]
    return f"{above[-1]}\n{text}" if above else text


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """The cosine of the angle, 0 where a vector has no direction."""
    length = math.hypot(*one) * math.hypot(*other)
    return sum(map(mul, one, other)) / length if length else 0.0


def nothing_found(question: str) -> str:
    """What is said where nothing answers, in the language of the question."""
    return _NOTHING_FOUND.get(script_of(_LATIN_NAME.sub("", question)), _NOTHING_FOUND_ENGLISH)


def _is_worth_it(sentence: ScoredSentence, best: ScoredSentence | None) -> bool:
    if best is None:
        return True
    # The rows of a table all answer to the words of its header: their own must tell them apart.
    if best.is_row and sentence.is_row and sentence.own < KEPT_SHARE * best.own:
        return False
    return sentence.score >= KEPT_SHARE * best.score
