"""Checks the citations of an answer against the stored documents."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from chains.citations.answer_reader import read_answer
from chains.citations.markers import Claim, Marker, Piece, Text, as_markdown
from chains.citations.quotes import Evidence
from chains.citations.support import Statements, contains_numbers, quotation_before
from domain import Citation, CitationState, RetrievedPassage


@dataclass(frozen=True, slots=True)
class CheckedAnswer:
    """An answer as displayed, with every citation checked.

    A number has one citation if all of its markers cite the same words, otherwise one for each
    `[n]` in the order of the text; `marks` has the index of its citation for each `[n]`.
    `statements` is the number of sentences that make a claim. `unsupported_sentences` counts those
    without a verified citation, and those with a figure that is missing from all passages that they
    cite with a verified citation.
    """

    text: str
    citations: tuple[Citation, ...]
    marks: tuple[int, ...]
    statements: int
    unsupported_sentences: int


@dataclass(frozen=True, slots=True)
class _NumberedMarker:
    """One number of a marker.

    `quote` is in the marker or in the quotation directly before it, whose span in the answer
    without markers is `quotation`. `at` is the marker's position in that answer; `after` and
    `until` are those of the previous and the next marker.
    """

    n: int
    quote: str
    at: int
    after: int
    quotation: tuple[int, int] | None
    until: int = 0


class _BareAnswer:
    """The answer without markers, read piece by piece.

    What precedes a marker does not change anymore once the marker was read.
    """

    def __init__(self) -> None:
        self.text = ""
        self.markers: list[_NumberedMarker] = []
        self.own_spans: list[tuple[int, int]] = []
        """The spans of text written by the program."""
        self._held: list[Text] = []
        self._has_begun = False
        self._previous_at = 0

    def read(self, piece: Piece) -> None:
        """Add the next piece; text is held back until the next marker or another writer's text."""
        if isinstance(piece, Marker):
            self._add_text(is_last=False)
            self._add_marker(piece)
            return
        if self._held and self._held[-1].by_program != piece.by_program:
            self._add_text(is_last=False)
        self._held.append(piece)

    def close(self) -> None:
        """Add the text that was held back."""
        self._add_text(is_last=True)

    def _add_text(self, *, is_last: bool) -> None:
        """Add the text, unless it only separates neighboring markers."""
        text = "".join(piece.text for piece in self._held)
        is_separator = self._has_begun and not is_last and not text.strip(" ,;、")
        start, self.text = len(self.text), self.text + ("" if is_separator else text)
        if self._held and self._held[0].by_program:
            self.own_spans.append((start, len(self.text)))
        self._has_begun = self._has_begun or bool(self._held)
        self._held = []

    def _add_marker(self, marker: Marker) -> None:
        self._has_begun = True
        self.text = self.text.rstrip(" ")
        at = len(self.text)
        if self.markers and self.markers[-1].at < at:
            self._previous_at = self.markers[-1].at
        for claim in marker.claims:
            quote, quotation = self._quotation(marker, claim)
            self.markers.append(_NumberedMarker(claim.n, quote, at, self._previous_at, quotation))

    def _quotation(self, marker: Marker, claim: Claim) -> tuple[str, tuple[int, int] | None]:
        """The quote of a claim, and the span of its quotation if that is before the marker."""
        at = len(self.text)
        if claim.quote:
            return claim.quote, (at - marker.quotes, at) if marker.quotes else None
        span = quotation_before(self.text, at, self._previous_at)
        return (self.text[slice(*span)] if span else ""), span


class AnswerCheck:
    """Checks the citations of an answer while it is written.

    A quote is looked up as soon as its marker is complete, and once: the result holds for the
    whole answer too. A citation without a quote is checked only with the whole answer, because the
    sentence that it supports may go on.
    """

    def __init__(
        self,
        passages: Sequence[RetrievedPassage],
        document_text: Callable[[str], str | None],
    ) -> None:
        """Start an answer.

        Args:
            passages: The passages that the answerer received.
            document_text: Returns the stored text of a document by id, None if it is gone.
        """
        self._evidence = {passage.n: Evidence(passage, document_text) for passage in passages}
        self._pieces: list[Piece] = []
        self._bare = _BareAnswer()

    def read(self, pieces: Sequence[Piece]) -> list[tuple[int, Citation]]:
        """Add the next pieces of the answer.

        Returns:
            The verified citations of the quotes in them, each with the index of its `[n]` among
            those of the answer, counted from 0.
        """
        known = len(self._bare.markers)
        self._pieces += pieces
        for piece in pieces:
            self._bare.read(piece)
        return [
            (index, citation)
            for index, marker in enumerate(self._bare.markers[known:], start=known)
            if (evidence := self._evidence.get(marker.n))
            and (citation := evidence.cite(marker.quote))
        ]

    @cached_property
    def result(self) -> CheckedAnswer:
        """The whole answer, checked; no more pieces can be added afterwards."""
        self._bare.close()
        bare, markers = self._bare.text, _with_next_positions(self._bare)
        statements = Statements(bare)
        outcomes = [_check(one, statements, self._evidence) for one in markers]
        claims = {index for outcome in outcomes for index in outcome.sentences}
        claims.update(_claims_of_answerer(statements, self._bare.own_spans))
        citations, indices = _merge([outcome.citation for outcome in outcomes])
        return CheckedAnswer(
            text=as_markdown(self._pieces),
            citations=citations,
            marks=tuple(indices),
            statements=len(claims),
            unsupported_sentences=len(claims - _sentences_with_support(outcomes, statements, bare)),
        )


@dataclass(frozen=True, slots=True)
class _Outcome:
    citation: Citation
    sentences: range


def check_answer(
    answer: str | Sequence[Piece],
    passages: Sequence[RetrievedPassage],
    document_text: Callable[[str], str | None],
) -> CheckedAnswer:
    """Check every citation of an answer, which may be unfinished.

    The quote is in the marker or in the quotation directly before it. It is searched in the
    passage, then in the document. A marker without a quote gets the sentence of the passage that
    supports its statement. A citation has the document's words if the quote is found, otherwise
    those of the answer.

    Args:
        answer: The text of a model, or its pieces, or those of an answerer that reports its quotes.
        passages: The passages that the answerer received.
        document_text: Returns the stored text of a document by id, None if it is gone.
    """
    check = AnswerCheck(passages, document_text)
    check.read(read_answer(answer, passages) if isinstance(answer, str) else answer)
    return check.result


def _claims_of_answerer(statements: Statements, own_spans: Sequence[tuple[int, int]]) -> list[int]:
    """The sentences that make a claim and were not written by the program."""
    return [
        index
        for index in statements.claims
        if not any(
            start <= statements.spans[index][0] and statements.spans[index][1] <= end
            for start, end in own_spans
        )
    ]


def _with_next_positions(bare: _BareAnswer) -> list[_NumberedMarker]:
    positions = [*sorted({one.at for one in bare.markers}), len(bare.text)]
    following = dict(pairwise(positions))
    return [replace(one, until=following[one.at]) for one in bare.markers]


def _check(
    marker: _NumberedMarker, statements: Statements, evidence: dict[int, Evidence]
) -> _Outcome:
    index = statements.cited_by(marker.at)
    sentences = range(0) if index is None else range(index, index + 1)
    statement = (
        "" if index is None else statements.statement(index, marker.after, marker.at, marker.until)
    )
    if marker.quotation:
        sentences = _overlapping(statements, marker.quotation)
    passage_evidence = evidence.get(marker.n)
    if passage_evidence is None:
        quoted = bool(marker.quote)
        missing = Citation(
            marker.n, CitationState.NO_SUCH_SOURCE, marker.quote, quoted_by_answer=quoted
        )
        return _Outcome(missing, sentences)
    return _Outcome(passage_evidence.check(marker.quote, statement), sentences)


def _sentences_with_support(
    outcomes: Sequence[_Outcome], statements: Statements, bare: str
) -> set[int]:
    """The sentences with a verified citation whose numbers all occur in the passages they cite."""
    evidence: defaultdict[int, str] = defaultdict(str)
    for outcome in outcomes:
        citation = outcome.citation
        if citation.state is CitationState.VERIFIED:
            parts = (citation.quote, citation.passage_text, citation.title, *citation.heading_path)
            for sentence in outcome.sentences:
                evidence[sentence] += "\n" + "\n".join(parts)
    return {
        sentence
        for sentence, text in evidence.items()
        if contains_numbers(bare[slice(*statements.spans[sentence])], text)
    }


def _overlapping(statements: Statements, span: tuple[int, int]) -> range:
    """The sentences that overlap the span."""
    inside = [
        index
        for index, (start, end) in enumerate(statements.spans)
        if start < span[1] and span[0] < end
    ]
    return range(inside[0], inside[-1] + 1) if inside else range(0)


def _merge(citations: Sequence[Citation]) -> tuple[tuple[Citation, ...], list[int]]:
    """The citations, with equal ones of a number merged, and the new index of each original."""
    distinct: defaultdict[int, set[Citation]] = defaultdict(set)
    for citation in citations:
        distinct[citation.n].add(citation)
    merged: list[Citation] = []
    indices = []
    for citation in citations:
        if len(distinct[citation.n]) == 1 and citation in merged:
            indices.append(merged.index(citation))
        else:
            indices.append(len(merged))
            merged.append(citation)
    return tuple(merged), indices
