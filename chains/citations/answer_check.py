"""Checks the citations of an answer against the stored documents."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from chains.citations.answer_reader import Piece, Text, as_markdown, join_texts, read_answer
from chains.citations.markers import Claim, Marker
from chains.citations.quotes import QuoteFinder, proves_something
from chains.citations.support import Statements, contains_numbers, find_support
from domain import Citation, CitationState, RetrievedPassage

NEAR_CHARS = 500_000
"""Characters before and after the passage that are searched for a quote.

This covers all but huge documents entirely.
"""


class Evidence:
    """Looks up quotes in a retrieved passage and in the stored document around it."""

    def __init__(
        self, passage: RetrievedPassage, document_text: Callable[[str], str | None]
    ) -> None:
        self._passage = passage
        self._document_text = document_text

    def check(self, quote: str, statement: str) -> Citation:
        """The citation of a marker with this quote, or with this statement if it has no quote.

        A quote that is too short to prove anything must occur in the passage, and the statement is
        checked in its place.
        """
        if not quote:
            return self._supporting(statement)
        if not proves_something(quote):
            occurs = self._in_passage.find_words(quote) is not None
            return self._supporting(statement) if occurs else self._missing(quote)
        return self._quoted(quote) or self._missing(quote)

    def _quoted(self, quote: str) -> Citation | None:
        span = self._in_passage.find(quote)
        if span:
            return self._verified(*span)
        text, start = self._surroundings
        span = QuoteFinder(text).find(quote) if text else None
        if span is None:
            return None
        return replace(
            self._citation(CitationState.VERIFIED, text[slice(*span)]),
            start=start + span[0],
            end=start + span[1],
        )

    def _supporting(self, statement: str) -> Citation:
        headings = " \n".join((self._passage.title, *self._passage.heading_path))
        span = find_support(statement, self._passage.text, headings)
        citation = self._verified(*span) if span else self._missing("")
        return replace(citation, quoted_by_answer=False)

    def _verified(self, start: int, end: int) -> Citation:
        """The citation of a span of the passage; its offsets are -1 if the document has changed."""
        citation = self._citation(CitationState.VERIFIED, self._passage.text[start:end])
        if self._offset < 0:
            return citation
        return replace(citation, start=self._offset + start, end=self._offset + end)

    def _missing(self, quote: str) -> Citation:
        return self._citation(CitationState.NOT_FOUND, quote)

    def _citation(self, state: CitationState, quote: str) -> Citation:
        passage = self._passage
        return Citation(
            n=passage.n,
            state=state,
            quote=quote,
            title=passage.title,
            location=passage.location,
            document_id=passage.document_id,
            passage_id=passage.passage_id,
            version=passage.version,
            page=passage.page,
            heading_path=passage.heading_path,
            passage_text=passage.text,
        )

    @cached_property
    def _in_passage(self) -> QuoteFinder:
        return QuoteFinder(self._passage.text)

    @cached_property
    def _text(self) -> str:
        return self._document_text(self._passage.document_id) or ""

    @cached_property
    def _offset(self) -> int:
        passage, start = self._passage.text, self._passage.start
        if not passage:
            return -1
        if self._text.startswith(passage, start):
            return start
        return self._text.find(passage)  # the document has changed

    @cached_property
    def _surroundings(self) -> tuple[str, int]:
        start = max(0, self._offset - NEAR_CHARS)
        return self._text[start : start + len(self._passage.text) + 2 * NEAR_CHARS], start


@dataclass(frozen=True, slots=True)
class Mark:
    """The span of an `[n]` in the displayed answer, and the index of its citation."""

    start: int
    end: int
    citation: int


@dataclass(frozen=True, slots=True)
class CheckedAnswer:
    """An answer as displayed, with every citation checked.

    A number has one citation if all of its markers cite the same words, otherwise one for each
    `[n]` in the order of the text. `statements` is the number of sentences that make a claim.
    `unsupported_sentences` counts those without a verified citation, and those with a figure that
    is missing from all passages that they cite with a verified citation.
    """

    text: str
    citations: tuple[Citation, ...]
    marks: tuple[Mark, ...]
    statements: int
    unsupported_sentences: int


@dataclass(frozen=True, slots=True)
class _NumberedMarker:
    """One number of a marker and its span in the displayed answer.

    `at` is its position in the answer without markers; `after` and `until` are those of the
    previous and the next marker. `quoted` is the span of its quotation if the answerer reported it.
    """

    claim: Claim
    start: int
    end: int
    at: int
    after: int
    quoted: tuple[int, int] | None
    until: int = 0


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
    pieces = read_answer(answer, passages) if isinstance(answer, str) else join_texts(answer)
    bare, markers, own_spans = _remove_markers(pieces)
    statements = Statements(bare)
    evidence = {passage.n: Evidence(passage, document_text) for passage in passages}
    outcomes = [_check(one, statements, bare, evidence) for one in markers]
    claims = {index for outcome in outcomes for index in outcome.sentences}
    claims.update(_claims_of_answerer(statements, own_spans))
    citations, indices = _merge([outcome.citation for outcome in outcomes])
    return CheckedAnswer(
        text=as_markdown(pieces),
        citations=citations,
        marks=tuple(
            Mark(one.start, one.end, index) for one, index in zip(markers, indices, strict=True)
        ),
        statements=len(claims),
        unsupported_sentences=len(claims - _supported(outcomes, statements, bare)),
    )


def _remove_markers(
    pieces: Sequence[Piece],
) -> tuple[str, list[_NumberedMarker], list[tuple[int, int]]]:
    """The answer without markers, its markers, and the spans of text written by the program."""
    bare = ""
    markers: list[_NumberedMarker] = []
    own_spans: list[tuple[int, int]] = []
    length = previous_at = 0
    for index, piece in enumerate(pieces):
        if isinstance(piece, Marker):
            bare = bare.rstrip(" ")
            if markers and markers[-1].at < len(bare):
                previous_at = markers[-1].at
            quoted = (len(bare) - piece.quotes, len(bare)) if piece.quotes else None
            for claim in piece.claims:
                end = length + len(f"[{claim.n}]")
                markers.append(_NumberedMarker(claim, length, end, len(bare), previous_at, quoted))
                length = end
        else:
            start, bare = len(bare), bare + _between_markers(pieces, index)
            length += len(piece.shown)
            if piece.by_program:
                own_spans.append((start, len(bare)))
    return bare, _with_next_positions(markers, len(bare)), own_spans


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


def _with_next_positions(markers: list[_NumberedMarker], end: int) -> list[_NumberedMarker]:
    positions = [*sorted({one.at for one in markers}), end]
    following = dict(pairwise(positions))
    return [replace(one, until=following.get(one.at, end)) for one in markers]


def _between_markers(pieces: Sequence[Piece], index: int) -> str:
    """The text of the piece, or "" if it only separates neighboring markers."""
    piece = pieces[index]
    text = piece.text if isinstance(piece, Text) else ""
    is_inner = 0 < index < len(pieces) - 1
    return "" if is_inner and not text.strip(" ,;、") else text


def _check(
    marker: _NumberedMarker, statements: Statements, bare: str, evidence: dict[int, Evidence]
) -> _Outcome:
    index = statements.cited_by(marker.at)
    sentences = range(0) if index is None else range(index, index + 1)
    statement = (
        "" if index is None else statements.statement(index, marker.after, marker.at, marker.until)
    )
    quote = marker.claim.quote
    quotation = marker.quoted
    if not quote:
        quotation = statements.quotation_before(marker.at, marker.after)
        quote = bare[slice(*quotation)] if quotation else ""
    if quotation:
        sentences = _overlapping(statements, quotation)
    passage_evidence = evidence.get(marker.claim.n)
    if passage_evidence is None:
        missing = Citation(
            marker.claim.n, CitationState.NO_SUCH_SOURCE, quote, quoted_by_answer=bool(quote)
        )
        return _Outcome(missing, sentences)
    return _Outcome(passage_evidence.check(quote, statement), sentences)


def _supported(outcomes: Sequence[_Outcome], statements: Statements, bare: str) -> set[int]:
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
