"""Checking what an answer cites against what the documents say."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from chains.answer_reader import read_answer
from chains.evidence import Evidence
from chains.marker import Claim, Marker
from chains.markers import Piece, Text, join_texts
from chains.statements import Statements
from chains.support import holds_numbers
from domain import Citation, CitationState, Source


@dataclass(frozen=True, slots=True)
class Mark:
    """Where the shown answer says `[n]`, and which of the citations it means."""

    start: int
    end: int
    citation: int


@dataclass(frozen=True, slots=True)
class CheckedAnswer:
    """An answer as it is shown, with every citation checked.

    Of each number there is either one citation, where all its markers cite the same words, or
    one for each `[n]` in the order of the text. `statements` counts the sentences that claim
    something, `unsupported_sentences` those of them without a verified citation, or with a
    number that stands in no passage they verifiably cite.
    """

    text: str
    citations: tuple[Citation, ...]
    marks: tuple[Mark, ...]
    statements: int
    unsupported_sentences: int


@dataclass(frozen=True, slots=True)
class _Cited:
    """One number of a marker and where it is shown.

    `at` is its place in the answer without markers, `after` and `until` those of the markers
    before and behind it. `quoted` is the span there of its quotation, where its writer says it.
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
    sources: Sequence[Source],
    document_text: Callable[[str], str | None],
) -> CheckedAnswer:
    """Check every citation of an answer, which may be unfinished.

    A quote is the one in the marker, else the quotation that stands directly before it; the
    passage is searched first, then its document. For a marker without a quote the sentence of
    the passage that supports the statement is looked for. What is found is cited in the
    document's own words, what is not keeps the words that the answer claims.

    Args:
        answer: As a model wrote it, or the pieces that were read of it, or that an answerer
            wrote which knows itself what it quotes.
        sources: What the answerer was shown.
        document_text: The stored text of a document by its id, None where it is gone.
    """
    pieces = read_answer(answer, sources) if isinstance(answer, str) else join_texts(answer)
    bare, cited, own_words = _take_out_markers(pieces)
    statements = Statements(bare)
    evidence = {source.n: Evidence(source, document_text) for source in sources}
    outcomes = [_check(one, statements, bare, evidence) for one in cited]
    claims = {index for outcome in outcomes for index in outcome.sentences}
    claims.update(_of_others(statements, own_words))
    citations, indices = _merge([outcome.citation for outcome in outcomes])
    return CheckedAnswer(
        text=shown_text(pieces),
        citations=citations,
        marks=tuple(
            Mark(one.start, one.end, index) for one, index in zip(cited, indices, strict=True)
        ),
        statements=len(claims),
        unsupported_sentences=len(claims - _supported(outcomes, statements, bare)),
    )


def shown_text(pieces: Sequence[Piece]) -> str:
    """The pieces in the Markdown of the answer: markers are only their numbers."""
    return "".join(piece.shown for piece in pieces)


def plain_text(pieces: Sequence[Piece]) -> str:
    """The pieces without the escapes that Markdown needs."""
    return "".join(piece.text if isinstance(piece, Text) else piece.shown for piece in pieces)


def _take_out_markers(
    pieces: Sequence[Piece],
) -> tuple[str, list[_Cited], list[tuple[int, int]]]:
    """The words of the answer without markers, what they cite, and which the program wrote."""
    bare = ""
    cited: list[_Cited] = []
    own_words: list[tuple[int, int]] = []
    shown_chars = after = 0
    for place, piece in enumerate(pieces):
        if isinstance(piece, Marker):
            bare = bare.rstrip(" ")
            if cited and cited[-1].at < len(bare):
                after = cited[-1].at
            quoted = (len(bare) - piece.quotes, len(bare)) if piece.quotes else None
            for claim in piece.claims:
                end = shown_chars + len(f"[{claim.n}]")
                cited.append(_Cited(claim, shown_chars, end, len(bare), after, quoted))
                shown_chars = end
        else:
            start, bare = len(bare), bare + _between_markers(pieces, place)
            shown_chars += len(piece.shown)
            if piece.by_program:
                own_words.append((start, len(bare)))
    return bare, _with_next_places(cited, len(bare)), own_words


def _of_others(statements: Statements, own_words: Sequence[tuple[int, int]]) -> list[int]:
    """The sentences that claim something and are not all the program's own words."""
    return [
        index
        for index in statements.claims
        if not any(
            start <= statements.spans[index][0] and statements.spans[index][1] <= end
            for start, end in own_words
        )
    ]


def _with_next_places(cited: list[_Cited], end: int) -> list[_Cited]:
    places = [*sorted({one.at for one in cited}), end]
    following = dict(pairwise(places))
    return [replace(one, until=following.get(one.at, end)) for one in cited]


def _between_markers(pieces: Sequence[Piece], place: int) -> str:
    """The text of that piece, nothing where it only parts neighbouring markers."""
    piece = pieces[place]
    text = piece.text if isinstance(piece, Text) else ""
    is_inner = 0 < place < len(pieces) - 1
    return "" if is_inner and not text.strip(" ,;、") else text


def _check(
    cited: _Cited, statements: Statements, bare: str, evidence: dict[int, Evidence]
) -> _Outcome:
    index = statements.cited_by(cited.at)
    sentences = range(0) if index is None else range(index, index + 1)
    statement = (
        "" if index is None else statements.statement(index, cited.after, cited.at, cited.until)
    )
    quote = cited.claim.quote
    quotation = cited.quoted
    if not quote:
        quotation = statements.quotation_before(cited.at, cited.after)
        quote = bare[slice(*quotation)] if quotation else ""
    if quotation:
        sentences = _overlapping(statements, quotation)
    source = evidence.get(cited.claim.n)
    if source is None:
        missing = Citation(
            cited.claim.n, CitationState.NO_SUCH_SOURCE, quote, quoted_by_answer=bool(quote)
        )
        return _Outcome(missing, sentences)
    return _Outcome(source.check(quote, statement), sentences)


def _supported(outcomes: Sequence[_Outcome], statements: Statements, bare: str) -> set[int]:
    """The sentences with a verified citation whose numbers are in what they cite."""
    evidence: defaultdict[int, str] = defaultdict(str)
    for outcome in outcomes:
        cited = outcome.citation
        if cited.state is CitationState.VERIFIED:
            parts = (cited.quote, cited.passage_text, cited.title, *cited.heading_path)
            for sentence in outcome.sentences:
                evidence[sentence] += "\n" + "\n".join(parts)
    return {
        sentence
        for sentence, text in evidence.items()
        if holds_numbers(bare[slice(*statements.spans[sentence])], text)
    }


def _overlapping(statements: Statements, span: tuple[int, int]) -> range:
    """The sentences that the span reaches into."""
    inside = [
        index
        for index, (start, end) in enumerate(statements.spans)
        if start < span[1] and span[0] < end
    ]
    return range(inside[0], inside[-1] + 1) if inside else range(0)


def _merge(found: Sequence[Citation]) -> tuple[tuple[Citation, ...], list[int]]:
    """The citations with those of a number that are all equal made one, and who became which."""
    different: defaultdict[int, set[Citation]] = defaultdict(set)
    for citation in found:
        different[citation.n].add(citation)
    kept: list[Citation] = []
    indices = []
    for citation in found:
        if len(different[citation.n]) == 1 and citation in kept:
            indices.append(kept.index(citation))
        else:
            indices.append(len(kept))
            kept.append(citation)
    return tuple(kept), indices
