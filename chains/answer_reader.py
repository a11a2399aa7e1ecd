"""Reading what a chat model writes: its own markers, and brackets that it copied."""

import re
from collections.abc import Iterable

from chains.brackets import restoration
from chains.marker import Claim, Marker
from chains.markers import MarkerParser, Piece, Text, as_text, join_texts
from chains.quotes import QuoteFinder
from domain import Source

_OPEN_QUOTATION = re.compile(r"[“„「『«]([^“”„「」『』«»]*)\Z")


def read_answer(answer: str, sources: Iterable[Source]) -> list[Piece]:
    """The whole answer of a model that was shown the sources; no two texts in a row."""
    reader = AnswerReader(sources)
    pieces = [piece for line in answer.splitlines(keepends=True) for piece in reader.feed(line)]
    return join_texts(pieces + reader.close())


class AnswerReader(MarkerParser):
    """A parser that tells the model's markers from the brackets of the documents it was shown.

    Look-alikes (see `chains.brackets`) become the documents' brackets again. A bare number in
    brackets is the documents' where it is no source's number and a source says it so, or where it
    stands in a quotation that a source says up to there. The pieces show them escaped: in their
    Markdown every other `[n]` is a marker of the model.
    """

    def __init__(self, sources: Iterable[Source] = ()) -> None:
        """Args: what the model was shown."""
        super().__init__()
        self._sources = {source.n: source.text for source in sources}
        self._texts = set(self._sources.values())
        self._restored = restoration(self._texts)
        self._escaped = {mark: as_text(text).shown for mark, text in self._restored.items()}
        self._line = ""

    def _take(self, length: int) -> Text:
        is_code = bool(self._code or self._fence)
        taken = super()._take(length).text
        text = taken.translate(self._restored)
        self._line = (self._line + text).rpartition("\n")[2]
        if is_code or taken.startswith("\\"):
            return Text(text)
        return Text(text, "" if text == taken else taken.translate(self._escaped))

    def _marker(self, *, final: bool) -> Piece:
        before = self._line
        piece = super()._marker(final=final)
        if isinstance(piece, Text):
            return piece
        if self._is_copied(piece, before):
            return as_text(piece.raw)
        claims = (Claim(one.n, one.quote.translate(self._restored)) for one in piece.claims)
        return Marker(piece.raw, tuple(claims))

    def _is_copied(self, marker: Marker, before: str) -> bool:
        """Whether the marker is a document's bracket that the model copied as it is."""
        quoted = _open_quotation(before)
        if any(map(str.isalnum, quoted)) and self._is_said(quoted + marker.raw):
            return True
        is_bare = not any(claim.quote for claim in marker.claims)
        is_unknown = any(claim.n not in self._sources for claim in marker.claims)
        return is_bare and is_unknown and any(marker.raw in text for text in self._texts)

    def _is_said(self, words: str) -> bool:
        """Whether one of the sources says so."""
        return any(words in text or QuoteFinder(text).find_words(words) for text in self._texts)


def _open_quotation(line: str) -> str:
    """What follows the quotation mark that the line opens and does not close, "" without one."""
    found = _OPEN_QUOTATION.search(line)
    if found:
        return found[1]
    return line.rpartition('"')[2] if line.count('"') % 2 else ""
