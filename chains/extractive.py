"""The built-in answerer: quotes the sentences that answer, and needs no language model."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.messages import AIMessageChunk
from langchain_core.runnables import Runnable, RunnableConfig

from chains.answer_decision import log_odds
from chains.answer_measures import cosine, measures_of
from chains.citations import shown_text
from chains.follow_ups import Idf
from chains.history import questions
from chains.list_questions import asks_for_all
from chains.quoted_units import quoted_unit, readable
from chains.quotes import find_quote
from chains.sentence_scores import ScoredSentence, headings_above, score_sentences
from chains.visible_text import VisibleText
from chains.written_answer import citation, quotation
from domain import EXTRACTIVE
from language.script import is_foreign, script_of

MAX_SENTENCES = 3
RELEVANT_SHARE = 0.2
"""Where nothing is known about the library's words, nothing is quoted below this share."""
COSINE_WEIGHT = 1.2
"""What likeness in meaning adds to a sentence's score."""
UNKNOWN_COSINE_WEIGHT = 0.5
"""The same with an embedding whose scale is not known: words then count more."""
FOREIGN_COSINE_WEIGHT = 4.0
"""The same in another script than the question's, where words can say nothing."""
COMPARED = 8
"""How many of the best sentences are embedded; more changed nothing."""
KEPT_SHARE = 0.9
"""A further sentence is quoted where its score is at least this part of the best one's."""

_NOTHING_FOUND = {
    "korean": "문서에서 이 질문에 대한 분명한 답을 찾지 못했습니다.",
    "japanese": "この質問へのはっきりした答えは、文書の中に見つかりませんでした。",
    # Han characters alone are far more often a short Japanese question here.
    "chinese": "この質問へのはっきりした答えは、文書の中に見つかりませんでした。",
}
_NOTHING_FOUND_ENGLISH = "I found no clear answer to this question in the documents."
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
        self.embeddings = embeddings
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
        typed = question.removesuffix(added)
        scored = self._answering(question, typed, documents, [*earlier, added])
        all_items = asks_for_all(typed)
        chosen: list[QuotedSentence] = []
        quoted: list[tuple[int, int, int]] = []
        for sentence in scored:
            if len(chosen) == MAX_SENTENCES:
                break
            text = documents[sentence.n - 1].page_content
            span = quoted_unit(text, sentence.start, sentence.end, all_items=all_items)
            if not _is_worth_it(sentence, scored[0]) or _is_quoted(sentence.n, *span, quoted):
                continue
            quote = readable(text, *span).translate(_INNER)
            if find_quote(text, quote) and not _repeats(quote, chosen):
                quoted.append((sentence.n, *span))
                chosen.append(QuotedSentence(sentence.n, quote, sentence.score))
        return chosen

    def scored(
        self,
        question: str,
        typed: str,
        documents: Sequence[Document],
        earlier: Sequence[str] = (),
    ) -> list[ScoredSentence]:
        """Every sentence that could be quoted, best first, whether it answers or not.

        `typed` is the question without what condensing added: its meaning is what is compared.
        """
        known = self._knows_meaning
        sentences = score_sentences(question, documents, earlier, knows_meaning=known)
        weight = COSINE_WEIGHT if known else UNKNOWN_COSINE_WEIGHT
        foreign = [is_foreign(question, document.page_content) for document in documents]
        own = [one for one in sentences if not foreign[one.n - 1]]
        others = [one for one in sentences if foreign[one.n - 1]]
        compared = [
            *self._compared(typed, documents, own[:COMPARED], weight),
            *self._compared(typed, documents, others[:COMPARED], FOREIGN_COSINE_WEIGHT),
        ]
        return (
            sorted(compared, key=attrgetter("score"), reverse=True)
            + own[COMPARED:]
            + others[COMPARED:]
        )

    def _answering(
        self, question: str, typed: str, documents: Sequence[Document], earlier: Sequence[str]
    ) -> list[ScoredSentence]:
        """The sentences in one language of the documents, best first; none where none answers.

        Those in the question's language come first: words are shared within a language alone, so
        scores across languages can't be compared.
        """
        for sentences in self._by_language(question, typed, documents, earlier):
            if self._log_odds(question, typed, documents, sentences) > 0:
                return sentences
        return []

    def _by_language(
        self, question: str, typed: str, documents: Sequence[Document], earlier: Sequence[str]
    ) -> Iterator[list[ScoredSentence]]:
        foreign = [is_foreign(question, document.page_content) for document in documents]
        scored = self.scored(question, typed, documents, earlier)
        for other in (False, True):
            if sentences := [one for one in scored if foreign[one.n - 1] is other]:
                yield sentences

    def _log_odds(
        self,
        question: str,
        typed: str,
        documents: Sequence[Document],
        sentences: Sequence[ScoredSentence],
    ) -> float:
        if self._idf is None:
            return sentences[0].share - RELEVANT_SHARE
        known = self._knows_meaning and bool(sentences[0].cosine)
        embeddings = self.embeddings if known else None
        measures = measures_of(question, typed, documents, sentences, self._idf, embeddings)
        passage = documents[sentences[0].n - 1].page_content
        return log_odds(question, measures, passage, knows_meaning=known)

    def _compared(
        self,
        question: str,
        documents: Sequence[Document],
        sentences: list[ScoredSentence],
        weight: float,
    ) -> list[ScoredSentence]:
        """The sentences with their likeness in meaning added."""
        if self.embeddings is None or not sentences:
            return sentences
        asked = self.embeddings.embed_query(question)
        vectors = self.embeddings.embed_documents(
            [_below_its_heading(documents[one.n - 1], one) for one in sentences]
        )
        return [
            _with_meaning(one, vector, cosine(asked, vector), weight)
            for one, vector in zip(sentences, vectors, strict=True)
        ]


def _below_its_heading(document: Document, sentence: ScoredSentence) -> str:
    """The sentence as it is compared: alone, few sentences say what they are about."""
    above = headings_above(document).splitlines()
    text = document.page_content[sentence.start : sentence.end]
    return f"{above[-1]}\n{text}" if above else text


def _with_meaning(
    sentence: ScoredSentence, vector: Sequence[float], likeness: float, weight: float
) -> ScoredSentence:
    score = sentence.score + weight * likeness
    return replace(sentence, score=score, cosine=likeness, vector=vector)


def nothing_found(question: str) -> str:
    """What is said where nothing answers, in the language of the question."""
    return _NOTHING_FOUND.get(script_of(_LATIN_NAME.sub("", question)), _NOTHING_FOUND_ENGLISH)


def _is_worth_it(sentence: ScoredSentence, best: ScoredSentence) -> bool:
    if sentence is best:
        return True
    # The rows of a table all answer to the words of its header: their own must tell them apart.
    if best.is_row and sentence.is_row and sentence.own < KEPT_SHARE * best.own:
        return False
    return sentence.score >= KEPT_SHARE * best.score


def _is_quoted(n: int, start: int, end: int, quoted: Sequence[tuple[int, int, int]]) -> bool:
    return any(n == other and start < stop and begin < end for other, begin, stop in quoted)


def _repeats(quote: str, chosen: Sequence[QuotedSentence]) -> bool:
    """Whether these words were quoted already, of another copy of the text perhaps."""
    form = _bare(quote)
    return any(form in _bare(one.text) or _bare(one.text) in form for one in chosen)


def _bare(quote: str) -> str:
    return "".join(filter(str.isalnum, VisibleText(quote).form.casefold()))
