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

from chains.citations import shown_text
from chains.follow_ups import Idf
from chains.history import questions
from chains.quotes import find_quote
from chains.sentence_scores import ScoredSentence, coverage, score_sentences
from chains.visible_text import VisibleText, shown
from chains.written_answer import citation, quotation
from domain import EXTRACTIVE
from language.script import script_of

MAX_SENTENCES = 3
RELEVANT_SHARE = 0.2
"""Where the best sentence answers to less of the question, by weight, nothing is quoted."""
RELEVANT_COVERAGE = 0.35
"""The same for its whole passage, where the library's word statistics are known.

Measured on 600 questions a set: either loses at most 1 % of the right answers. Of questions about
an article taken out of the library, 0.20 to 0.24 are still answered by coverage, 0.30 to 0.47 by
share.
"""
COSINE_WEIGHT = 0.5
"""What likeness in meaning adds (XQuAD-en: .788 and .803 right without, .803 and .815 with it)."""
COMPARED = 5
"""How many of the best sentences are embedded; more changed nothing."""
KEPT_SHARE = 0.6
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

    def __init__(self, idf: Idf | None = None, embeddings: Embeddings | None = None) -> None:
        """Works without either, a little less surely.

        Args:
            idf: The library's word statistics, to tell an unanswerable question.
            embeddings: Gives texts in a language it does not know the zero vector.
        """
        self._idf = idf
        self._embeddings = embeddings

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
        typed = input.get("typed_question") or question
        added = question.removeprefix(typed) if question.startswith(typed) else ""
        earlier = questions(input.get("chat_history") or ())
        sentences = self.best_sentences(question, input["input_documents"], earlier, added)
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
        self,
        question: str,
        documents: Sequence[Document],
        earlier: Sequence[str] = (),
        added: str = "",
    ) -> list[QuotedSentence]:
        """The sentences worth quoting, best first; each is found in its document again.

        `earlier` holds the questions before this one, whose words count less, and `added` what
        condensing put at the end of this one: it counts less too, and not for the meaning.
        """
        scored = score_sentences(question, documents, [*earlier, added])
        scored = self._compared(question.removesuffix(added), documents, scored)
        if not scored or not self._is_relevant(question, documents, scored[0]):
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

    def _is_relevant(
        self, question: str, documents: Sequence[Document], best: ScoredSentence
    ) -> bool:
        if self._idf is None:
            return best.share >= RELEVANT_SHARE
        covered = coverage(question, documents[best.n - 1], self._idf)
        return best.share > 0 and covered >= RELEVANT_COVERAGE

    def _compared(
        self, question: str, documents: Sequence[Document], scored: list[ScoredSentence]
    ) -> list[ScoredSentence]:
        """The sentences with the likeness in meaning of the best ones added."""
        if self._embeddings is None or len(scored) < 2:
            return scored
        best, others = scored[:COMPARED], scored[COMPARED:]
        asked = self._embeddings.embed_query(question)
        vectors = self._embeddings.embed_documents(
            [documents[one.n - 1].page_content[one.start : one.end] for one in best]
        )
        compared = [
            replace(one, score=one.score + COSINE_WEIGHT * _cosine(asked, vector))
            for one, vector in zip(best, vectors, strict=True)
        ]
        return sorted(compared, key=lambda one: -one.score) + others


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """The cosine of the angle, 0 where a vector has no direction."""
    length = math.hypot(*one) * math.hypot(*other)
    return sum(map(mul, one, other)) / length if length else 0.0


def nothing_found(question: str) -> str:
    """What is said where nothing answers, in the language of the question."""
    return _NOTHING_FOUND.get(script_of(_LATIN_NAME.sub("", question)), _NOTHING_FOUND_ENGLISH)


def _is_worth_it(sentence: ScoredSentence, best: ScoredSentence | None) -> bool:
    if best is None:
        return sentence.share > 0
    # The rows of a table all answer to the words of its header: their own must tell them apart.
    if best.is_row and sentence.is_row and sentence.own < KEPT_SHARE * best.own:
        return False
    return sentence.share > 0 and sentence.score >= KEPT_SHARE * best.score
