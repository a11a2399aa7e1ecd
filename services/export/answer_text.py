r"""Answers as they are stored: Markdown in which an unescaped `[n]` outside code is a marker.

Brackets from documents are escaped: `\[42\]`.
"""

import re
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple
from urllib.parse import quote

from chains.citations.answer_reader import SafeParser
from chains.citations.marker_parser import SHOWN_MARKER, MarkerParser
from chains.citations.markers import (
    Claim,
    Marker,
    NotAMarkerError,
    Piece,
    Text,
    as_markdown,
    plain_text,
)
from chains.citations.visible_text import escape, has_live_markup
from domain import Citation, CitationState, Turn, is_on_web, public_location
from domain.messages import _
from services.answer_support import Support, offers_nearest, support_of

MEANING = _(
    "“Found” means that the quoted words appear in the documents. Whether they answer the question"
    " is for the reader to judge."
)
_MATCHED = _("found in the document, matched by Footnote")
_OUTCOMES = {
    CitationState.VERIFIED: _("found in the document"),
    CitationState.NOT_FOUND: _("not found"),
    CitationState.NO_SUCH_SOURCE: _("no such source"),
    CitationState.NOT_VERIFIED: _("not verified here"),
}

_MARKUP = re.compile(r"[\s<>\[\]\\`]")
"""What an address must not contain, so that no part of it is read as Markdown."""


class CitationCounts(NamedTuple):
    """The number of citations by outcome.

    `found` and `missing` count the quotes in the answer. A number without a quote counts as
    `matched` if Footnote found a matching sentence in its source, else as `unsupported`. Imported
    citations that could not be checked count only as `unverified`.
    """

    found: int
    missing: int
    matched: int
    unsupported: int
    unverified: int = 0


def count_citations(citations: Iterable[Citation]) -> CitationCounts:
    """Count the citations by outcome, each once."""
    verified = missing = matched = unsupported = unverified = 0
    for one in citations:
        is_verified = one.state is CitationState.VERIFIED
        is_unverified = one.state is CitationState.NOT_VERIFIED
        is_refuted = not is_verified and not is_unverified
        verified += is_verified and one.quoted_by_answer
        matched += is_verified and not one.quoted_by_answer
        missing += is_refuted and bool(one.quote)
        unsupported += is_refuted and not one.quote
        unverified += is_unverified
    return CitationCounts(verified, missing, matched, unsupported, unverified)


class Finding(StrEnum):
    """A kind of statement about the evidence of an answer."""

    NEAREST = "nearest"
    QUOTED = "quoted"
    MISSING = "missing"
    MATCHED = "matched"
    DOUBT = "doubt"


def findings(turn: Turn) -> list[tuple[Finding, str]]:
    """What pages and files say about the evidence of an answer: messages of whole sentences."""
    if offers_nearest(turn):
        return [(Finding.NEAREST, _("Closest passages. They may not answer the question."))]
    if not turn.citations:
        if support_of(turn) is not Support.UNSUPPORTED:
            return []
        return [(Finding.DOUBT, _("This answer cites no source. Check it before you rely on it."))]
    found, missing, matched, unsupported, unverified = count_citations(turn.citations)
    others = (
        (Finding.MATCHED, _("Sentences matched by Footnote: {n}."), matched),
        (Finding.DOUBT, _("Citations without support: {n}."), unsupported),
        (Finding.DOUBT, _("Sentences without a source: {n}."), turn.unsupported_sentences),
        (Finding.DOUBT, _("Imported citations that are not verified here: {n}."), unverified),
    )
    counted = [(finding, text.format(n=n)) for finding, text, n in others if n]
    return [*_quotes(found, missing), *counted]


def describe(citation: Citation) -> str:
    """The outcome of checking a citation, such as `found in the document` or `not found`."""
    if citation.state is CitationState.VERIFIED and not citation.quoted_by_answer:
        return _MATCHED
    return _OUTCOMES[citation.state]


def _quotes(found: int, missing: int) -> Iterator[tuple[Finding, str]]:
    if missing:
        text = _("{n} of {total} quotes found in the documents; {missing} not found.")
        yield Finding.MISSING, text.format(n=found, total=found + missing, missing=missing)
    elif found == 1:
        yield Finding.QUOTED, _("1 quote found in the documents.")
    elif found:
        yield Finding.QUOTED, _("{n} quotes found in the documents.").format(n=found)


__all__ = [
    "SHOWN_MARKER",
    "PlainAnswer",
    "answer_pieces",
    "escape",
    "location_text",
    "marker_spans",
    "plain_answer",
    "safe_answer",
]


def answer_pieces(answer: str) -> list[Piece]:
    """Split an answer into texts and markers; each marker has one number."""
    return _StoredParser().parse(answer)


def marker_spans(answer: str) -> Iterator[tuple[int, int, int]]:
    """The number, start, and end of each marker, in order."""
    at = 0
    for piece in answer_pieces(answer):
        end = at + len(piece.shown)
        if isinstance(piece, Marker):
            yield piece.claims[0].n, at, end
        at = end


def plain_answer(answer: str) -> str:
    """The answer without escapes, for display as plain text."""
    return plain_text(answer_pieces(answer))


def location_text(location: str) -> str:
    """The public location of a document as Markdown without markup; web addresses still work."""
    public = public_location(location)
    return _MARKUP.sub(_percent, public) if is_on_web(public) else escape(public)


def _percent(match: re.Match[str]) -> str:
    return quote(match[0], safe="")


def safe_answer(answer: str) -> str:
    """The answer with HTML, links, and images escaped, which answers of earlier versions contain.

    Answers without them, such as all new ones, are returned unchanged.
    """
    if not has_live_markup(answer):
        return answer
    return as_markdown(_SafeStoredParser().parse(answer))


class PlainAnswer:
    """`plain_answer` for an answer that arrives in pieces, for example on a terminal."""

    def __init__(self) -> None:
        self._parser = _StoredParser()

    def write(self, text: str) -> str:
        """Add a piece of the Markdown; returns the text that can be shown now."""
        return plain_text(self._parser.feed(text))

    def close(self) -> str:
        """End the answer; returns the text that was held back."""
        return plain_text(self._parser.close())


class _StoredParser(MarkerParser):
    """Accepts markers only in their stored form, and removes escapes from plain text."""

    def _read(self, *, final: bool) -> Marker:  # noqa: ARG002  # the signature is that of a parser
        match = SHOWN_MARKER.match(self._held)
        if match is None:
            raise NotAMarkerError
        return Marker(match[0], (Claim(int(match[1])),))

    def _backslash(self, *, final: bool) -> Text:
        text = super()._backslash(final=final).text
        return Text(text[1:] or text, text)


class _SafeStoredParser(_StoredParser, SafeParser):
    """Reads markers in their stored form, and escapes live markup."""
