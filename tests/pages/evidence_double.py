"""Test doubles for stored documents and ratings."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from domain import Principal, Turn
from domain.errors import NotFoundError
from services.evaluation.rating_service import Rating, Reason
from services.library.original_service import OriginalFile
from services.library.reader_service import Cited, DocumentView, Freshness, Span
from tests.pages.double import NOW


@dataclass
class Ratings:
    """Ratings in memory, by turn."""

    by_turn: dict[str, Rating] = field(default_factory=dict)
    error: Exception | None = None
    reads: list[str] = field(default_factory=list)

    def rating(self, principal: Principal, turn_id: str) -> Rating | None:
        self.reads.append(turn_id)
        return self.by_turn.get(turn_id)

    def rate(
        self,
        principal: Principal,
        turn_id: str,
        grade: int | None,
        reason: Reason | None = None,
        comment: str = "",
    ) -> None:
        if self.error:
            raise self.error
        self.by_turn.pop(turn_id, None)
        if grade is not None:
            self.by_turn[turn_id] = Rating(turn_id, grade, reason, comment, NOW)


@dataclass
class Originals:
    """Finds `file` and `picture` for any document."""

    file: OriginalFile | Exception = field(
        default_factory=partial(OriginalFile, "leave.md", Path("leave.md"), is_current=True)
    )
    picture: bytes | Exception = b""
    pictures: list[tuple[int, tuple[str, ...]]] = field(default_factory=list)

    def find(
        self, principal: Principal, document_id: str, *, max_bytes: int | None = None
    ) -> OriginalFile:
        if isinstance(self.file, Exception):
            raise self.file
        return self.file

    def read(self, principal: Principal, document_id: str) -> bytes:
        return b"the file"

    def page_image(
        self, principal: Principal, document_id: str, page: int, quotes: Sequence[str] = ()
    ) -> bytes:
        self.pictures.append((page, tuple(quotes)))
        if isinstance(self.picture, Exception):
            raise self.picture
        return self.picture


@dataclass
class Reader:
    """Returns the versions in `stored`, and `document` for any URL."""

    stored: dict[str, Freshness] = field(default_factory=dict)
    document: DocumentView | None = None
    views: list[tuple[str, int, int, Cited | None]] = field(default_factory=list)
    positions: list[int | None] = field(default_factory=list)
    is_removed: bool = False

    def freshness(self, principal: Principal, turns: Sequence[Turn]) -> dict[str, Freshness]:
        return self.stored

    def view(
        self,
        principal: Principal,
        document_id: str,
        start: int = 0,
        end: int = 0,
        *,
        cited: Cited | None = None,
        at: int | None = None,
    ) -> DocumentView:
        self.views.append((document_id, start, end, cited))
        self.positions.append(at)
        if self.document is None:
            raise NotFoundError("This document is not in the library.")
        return replace(self.document, at=at)

    def find(self, principal: Principal, document_id: str, words: str) -> list[Span]:
        if self.is_removed or self.document is None:
            raise NotFoundError("This document is not in the library.")
        start = self.document.start
        return [
            Span(start + match.start(), start + match.end())
            for match in re.finditer(re.escape(words), self.document.text)
        ]
