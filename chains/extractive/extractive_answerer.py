"""The built-in answerer, which quotes sentences that answer the question, without a model."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.messages import AIMessageChunk
from langchain_core.runnables import Runnable, RunnableConfig

from chains.citations.answer_reader import INNER_QUOTES, citation, quotation
from chains.citations.markers import as_markdown
from chains.citations.quotes import find_quote
from chains.citations.visible_text import VisibleText
from chains.condensing.follow_ups import Idf
from chains.extractive.answer_decision import cosine, log_odds, measures_of
from chains.extractive.quoted_units import quoted_unit, readable
from chains.extractive.sentence_scores import ScoredSentence, headings_above, score_sentences
from chains.history import questions
from domain import EXTRACTIVE
from domain.language.script import Language, answer_language, is_foreign

_ASKS_FOR_ALL = re.compile(
    r"\bhow (?:do|does|can|could|should|would|to|am|are)\b|\bwalk me through\b|\bsteps?\b"
    r"|\bwhich \w+s\b|\bwhat (?:are|else|should|must|jobs|things|kinds?|sorts?|types?)\b"
    r"|\blist\b|\ball (?:the|of|our)\b|\beverything\b|\beach of\b|\bin (?:the right )?order\b"
    r"|어떻게|어떡|방법|절차|순서|단계|어떤|무엇무엇|모두|전부|목록|정리|각각|어디어디|뭐뭐|누구누구"
    r"|どうやって|どうすれ|どうした(?:ら|い)|どうする|どのように|どんな|どういう|手順|手続|方法|やり方"
    r"|すべて|全て|全部|ぜんぶ|一覧|それぞれ|どこどこ|何と何|教えて",
    re.IGNORECASE,
)


def asks_for_all(question: str) -> bool:
    """Whether the question asks for a whole list or all steps rather than one sentence."""
    return _ASKS_FOR_ALL.search(unicodedata.normalize("NFKC", question)) is not None


MAX_SENTENCES = 3
RELEVANT_SHARE = 0.2
"""The minimum share of a quoted sentence if there are no word statistics of the library."""
COSINE_WEIGHT = 1.2
"""The weight of a sentence's cosine in its score."""
UNKNOWN_COSINE_WEIGHT = 0.5
"""The same for an embedding whose scale is unknown, so that words count more."""
FOREIGN_COSINE_WEIGHT = 4.0
"""The same in a different script than the question's, in which no words match."""
COMPARED = 8
"""The number of best sentences that are embedded; a larger number changed nothing."""
QUOTED_SHARE = 0.9
"""The minimum score of another quoted sentence, as a share of the best score."""

_NO_CLEAR_ANSWER: dict[Language, str] = {
    "english": "I found no clear answer to this question in the documents.",
    "korean": "문서에서 이 질문에 대한 분명한 답을 찾지 못했습니다.",
    "japanese": "この質問へのはっきりした答えは、文書の中に見つかりませんでした。",
}


@dataclass(frozen=True, slots=True)
class QuotedSentence:
    """A sentence to quote from document `n` (from 1), as displayed."""

    n: int
    text: str


@dataclass(eq=False, repr=False)
class ExtractiveAnswerer(Runnable[dict[str, Any], AIMessageChunk]):
    """Answers with up to three quoted sentences of the passages, each with its number.

    The inputs are `question`, `input_documents` (numbered from 1 in order), and optionally
    `chat_history` and `typed_question`. If no sentence answers, the answer says so in the language
    of the typed question, without citations. Without `idf` or `embeddings`, answers are a little
    less accurate.
    """

    idf: Idf | None = None
    """The library's word statistics, for recognizing unanswerable questions."""
    embeddings: Embeddings | None = None
    """Must return the zero vector for texts in a language that it does not know."""
    knows_meaning: bool = False
    """Whether the decision was fitted on the cosines of `embeddings`."""

    def invoke(
        self, input: dict[str, Any], config: RunnableConfig | None = None, **kwargs: Any
    ) -> AIMessageChunk:
        """The whole answer."""
        first, *others = self.stream(input, config, **kwargs)
        return sum(others, first)

    def stream(
        self,
        input: dict[str, Any],
        config: RunnableConfig | None = None,  # noqa: ARG002  # the signature is LangChain's
        **kwargs: Any,  # noqa: ARG002  # the same
    ) -> Iterator[AIMessageChunk]:
        """The answer, one piece per sentence, and a last piece that completes it.

        The `additional_kwargs` of a sentence have its annotation under `citations`: a LangChain
        `Citation` with indices into the whole answer and the document's number in `extras["n"]`.
        """
        question = input["question"]
        typed = input.get("typed_question") or question
        added = question.removeprefix(typed) if question.startswith(typed) else ""
        earlier = questions(input.get("chat_history") or ())
        sentences = self.best_sentences(question, input["input_documents"], earlier, added)
        length = 0
        for sentence in sentences:
            separator = "\n\n" if length else ""
            text = separator + as_markdown(quotation(sentence.n, sentence.text))
            annotation = citation(sentence.n, sentence.text, length + len(separator))
            yield AIMessageChunk(content=text, additional_kwargs={"citations": [annotation]})
            length += len(text)
        if not sentences:
            yield AIMessageChunk(content=no_clear_answer(input.get("typed_question") or question))
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
        """The sentences worth quoting, best first; each can be found in its document.

        Words of the `earlier` questions count less, and so do the words that condensing `added` at
        the end of this one. Added words are also ignored when meanings are compared.
        """
        typed = question.removesuffix(added)
        scored = self._answer_sentences(question, typed, documents, [*earlier, added])
        all_items = asks_for_all(typed)
        sentences: list[QuotedSentence] = []
        spans: list[tuple[int, int, int]] = []
        for sentence in scored:
            if len(sentences) == MAX_SENTENCES:
                break
            text = documents[sentence.n - 1].page_content
            span = quoted_unit(text, sentence.start, sentence.end, all_items=all_items)
            if not _is_worth_quoting(sentence, scored[0]) or _is_quoted(sentence.n, *span, spans):
                continue
            quote = readable(text, *span).translate(INNER_QUOTES)
            if find_quote(text, quote) and not _repeats(quote, sentences):
                spans.append((sentence.n, *span))
                sentences.append(QuotedSentence(sentence.n, quote))
        return sentences

    def scored(
        self,
        question: str,
        typed: str,
        documents: Sequence[Document],
        earlier: Sequence[str] = (),
    ) -> list[ScoredSentence]:
        """All sentences that could be quoted, best first, even if they do not answer the question.

        Meanings are compared with `typed`, the question without the added terms.
        """
        calibrated = self.knows_meaning
        sentences = score_sentences(question, documents, earlier, knows_meaning=calibrated)
        weight = COSINE_WEIGHT if calibrated else UNKNOWN_COSINE_WEIGHT
        foreign = [is_foreign(question, document.page_content) for document in documents]
        same_language = [one for one in sentences if not foreign[one.n - 1]]
        foreign_sentences = [one for one in sentences if foreign[one.n - 1]]
        compared = [
            *self._compare(typed, documents, same_language[:COMPARED], weight),
            *self._compare(typed, documents, foreign_sentences[:COMPARED], FOREIGN_COSINE_WEIGHT),
        ]
        return (
            sorted(compared, key=attrgetter("score"), reverse=True)
            + same_language[COMPARED:]
            + foreign_sentences[COMPARED:]
        )

    def _answer_sentences(
        self, question: str, typed: str, documents: Sequence[Document], earlier: Sequence[str]
    ) -> list[ScoredSentence]:
        """The sentences in one language of the documents, best first; empty if none answers.

        The question's language is tried first. Scores can't be compared across languages, because
        words match only within a language.
        """
        foreign = [is_foreign(question, document.page_content) for document in documents]
        scored = self.scored(question, typed, documents, earlier)
        for is_other in (False, True):
            sentences = [one for one in scored if foreign[one.n - 1] is is_other]
            if sentences and self._log_odds(question, typed, documents, sentences) > 0:
                return sentences
        return []

    def _log_odds(
        self,
        question: str,
        typed: str,
        documents: Sequence[Document],
        sentences: Sequence[ScoredSentence],
    ) -> float:
        if self.idf is None:
            return sentences[0].share - RELEVANT_SHARE
        calibrated = self.knows_meaning and bool(sentences[0].cosine)
        embeddings = self.embeddings if calibrated else None
        measures = measures_of(question, typed, documents, sentences, self.idf, embeddings)
        passage = documents[sentences[0].n - 1].page_content
        return log_odds(question, measures, passage, knows_meaning=calibrated)

    def _compare(
        self,
        question: str,
        documents: Sequence[Document],
        sentences: list[ScoredSentence],
        weight: float,
    ) -> list[ScoredSentence]:
        """The sentences with their similarity in meaning to the question added to the scores."""
        if self.embeddings is None or not sentences:
            return sentences
        question_vector = self.embeddings.embed_query(question)
        vectors = self.embeddings.embed_documents(
            [_below_its_heading(documents[one.n - 1], one) for one in sentences]
        )
        return [
            _with_meaning(one, vector, cosine(question_vector, vector), weight)
            for one, vector in zip(sentences, vectors, strict=True)
        ]


def _below_its_heading(document: Document, sentence: ScoredSentence) -> str:
    """The sentence below its heading, for embedding: few sentences name their subject."""
    above = headings_above(document).splitlines()
    text = document.page_content[sentence.start : sentence.end]
    return f"{above[-1]}\n{text}" if above else text


def _with_meaning(
    sentence: ScoredSentence, vector: Sequence[float], similarity: float, weight: float
) -> ScoredSentence:
    score = sentence.score + weight * similarity
    return replace(sentence, score=score, cosine=similarity, vector=vector)


def no_clear_answer(question: str) -> str:
    """The answer if nothing was found, in the language of the question."""
    return _NO_CLEAR_ANSWER[answer_language(question)]


def _is_worth_quoting(sentence: ScoredSentence, best: ScoredSentence) -> bool:
    if sentence is best:
        return True
    # All rows of a table match the words of its header, so the row's own words decide.
    if best.is_row and sentence.is_row and sentence.own < QUOTED_SHARE * best.own:
        return False
    return sentence.score >= QUOTED_SHARE * best.score


def _is_quoted(n: int, start: int, end: int, spans: Sequence[tuple[int, int, int]]) -> bool:
    return any(n == other and start < stop and begin < end for other, begin, stop in spans)


def _repeats(quote: str, sentences: Sequence[QuotedSentence]) -> bool:
    """Whether the same words are already quoted, possibly from another copy of the text."""
    form = _bare(quote)
    return any(form in _bare(one.text) or _bare(one.text) in form for one in sentences)


def _bare(quote: str) -> str:
    return "".join(filter(str.isalnum, VisibleText(quote).form.casefold()))
