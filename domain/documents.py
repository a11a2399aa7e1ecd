"""Documents as sources list them, and the passages into which they are split."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from enum import StrEnum
from itertools import takewhile
from pathlib import PurePath
from typing import Any, NamedTuple

Metadata = dict[str, Any]


def utc_text(moment: datetime) -> str:
    """The time as text whose order is chronological: `2026-11-21T10:00:00Z`."""
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def digest_of(*parts: str) -> str:
    """32 hexadecimal digits that differ if a part or a boundary between parts does."""
    digest = hashlib.sha256()
    for part in parts:
        encoded = part.encode("utf-8", "surrogatepass")
        digest.update(b"%d:" % len(encoded) + encoded)
    return digest.hexdigest()[:32]


def is_on_web(location: str) -> bool:
    """Whether the location of a document is the address of a web page rather than a file."""
    return location.startswith(("http://", "https://"))


def public_location(location: str) -> str:
    """The address of a web page; of a file, only its name, without its folder on this machine."""
    return location if is_on_web(location) else PurePath(location).name


class Named:
    """Mixin for values with a key, and with a title if the key means nothing to users."""

    __slots__ = ()

    key: str
    title: str

    @property
    def name(self) -> str:
        """The title, or the key if there is none."""
        return self.title or self.key


@dataclass(frozen=True, slots=True)
class DocumentRef(Named):
    """A document as its source lists it, before it is read.

    `key` identifies it within its source and never changes (a relative path in NFC, a page id).
    `version` changes whenever its content does. `location` is a path or URL that a person can open.
    `title` is set if the key means nothing to users. `size` is in bytes, 0 if it is unknown.

    `restrictions` are the sets of readers that may read it in its source: a person must be in each
    of them, and nobody is in an empty one. None if the loader does not mirror permissions: then
    they stay as they are. `hidden_reason` is why they could not be read; it is set if they hide the
    document from everyone for that reason.
    """

    key: str
    version: str
    location: str
    title: str = field(default="", compare=False)
    size: int = field(default=0, compare=False)
    restrictions: tuple[frozenset[str], ...] | None = field(default=None, compare=False)
    hidden_reason: str = field(default="", compare=False)

    def hidden(self, reason: str) -> "DocumentRef":
        """This document, hidden from everyone because its permissions could not be read."""
        return replace(self, restrictions=HIDDEN, hidden_reason=reason)


HIDDEN = (frozenset[str](),)
"""The restrictions that hide a document from everyone."""


HIDDEN_NAMES = (".", "~$")
"""How names of files that are not imported begin; those of Office's lock files with `~$`."""


class StoredFile(NamedTuple):
    """A file of an upload box: its path in the box, its size in bytes, and its SHA-256 or "".

    `modified_at` is in UTC, such as `2026-11-21T10:00:00Z`.
    """

    name: str
    size: int
    version: str
    modified_at: str


@dataclass(frozen=True, slots=True)
class Skipped(Named):
    """Something that a source could not list, with the reason.

    An imported document with this key stays in the library, because a document that can't be
    listed has not necessarily been removed. If the key ends in "/", or if `may_be_folder` (it is
    unknown whether it is a folder), documents whose keys start with it stay too. `is_error` is
    False if nothing is wrong with it, such as a picture in a folder of texts.
    """

    key: str
    location: str
    reason: str
    is_error: bool = True
    title: str = field(default="", compare=False)
    may_be_folder: bool = False

    @property
    def folder(self) -> str:
        """The key prefix of the documents in it; "" if it is certainly not a folder."""
        return f"{self.key.rstrip('/')}/" if self.may_be_folder or self.key.endswith("/") else ""


@dataclass(frozen=True, slots=True)
class Removed:
    """An imported document that is no longer in its source, with the reason.

    Documents that are neither listed nor skipped also count as removed, without a reason. If the
    removal is not certain, a user has to confirm it, because a revoked permission may merely hide
    a whole space.
    """

    key: str
    reason: str
    is_certain: bool = True


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where the next listing may start, once everything listed so far is imported.

    `values` must be valid JSON; only the loader interprets them.
    """

    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class NewOptions:
    """Properties that a loader detected in its source, such as the meaning of its columns.

    An import saves `values` in the source's options before it reads; a dry run does not.
    """

    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class PreviousImport:
    """The state after earlier imports, for loaders that list only changes.

    `documents` contains the library's documents by key, `failed` those that could not be read at
    the last attempt. `cursor` comes from the last import that left nothing to retry; it is empty
    for a full listing.
    """

    documents: Mapping[str, DocumentRef] = field(default_factory=dict)
    failed: Mapping[str, DocumentRef] = field(default_factory=dict)
    cursor: Mapping[str, Any] = field(default_factory=dict)


NEVER_IMPORTED = PreviousImport()
"""The state of a source that was never imported."""

ListingEntry = DocumentRef | Skipped | Removed | Cursor | NewOptions
"""An entry that a loader yields; the cursor, if any, comes last."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a document; `document_text[start:end] == text` always holds.

    `page` counts from 1 and is None in formats without pages.
    """

    id: str
    document_id: str
    ordinal: int
    start: int
    end: int
    text: str
    heading_path: tuple[str, ...] = ()
    page: int | None = None


def shared_headings(paths: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """The common prefix of heading paths, topmost heading first."""
    levels = zip(*paths, strict=False)
    return tuple(level[0] for level in takewhile(lambda level: len(set(level)) == 1, levels))


class DocumentOrder(StrEnum):
    """The order of a list; DENSITY starts with the fewest characters per page."""

    TITLE = "title"
    NEWEST = "newest"
    PASSAGES = "passages"
    DENSITY = "density"


@dataclass(frozen=True, slots=True)
class DocumentFilter:
    """Which documents to list; empty fields match everything.

    Each of the `words` must occur in the title or the key, ignoring case; parts of words match.
    `scripts` are values of `language.script_of`; `warned` selects documents with warnings.
    Only documents that someone who is all of the `readers` may read are listed; None lists all.
    """

    words: str = ""
    sources: tuple[str, ...] | None = None
    collections: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    warned: bool = False
    readers: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class ListedDocument:
    """A document as a row of the library's table; `pages` is 0 in formats without pages.

    `details` contains further metadata from its source.
    """

    id: str
    source_id: str
    key: str
    title: str
    location: str
    format: str
    encoding: str | None
    pages: int
    characters: int
    script: str
    passages: int
    longest_passage: int
    revision: int
    imported_at: datetime
    warnings: tuple[str, ...]
    details: Metadata = field(default_factory=dict)

    @property
    def characters_per_page(self) -> int | None:
        """The mean, or None in formats without pages; a low value suggests a scan."""
        return round(self.characters / self.pages) if self.pages else None


@dataclass(frozen=True, slots=True)
class FailedDocument(Named):
    """A document that could not be read.

    `failed_at` is None for failures recorded by earlier versions of Footnote. `title` is empty if
    the key, such as a path, is readable.
    """

    source_id: str
    key: str
    location: str
    reason: str
    failed_at: datetime | None
    title: str = ""


@dataclass(frozen=True, slots=True)
class SharedPassage:
    """A passage, and how many of its characters it shares with each neighbor."""

    passage: Passage
    shared_before: int
    shared_after: int


@dataclass(frozen=True, slots=True)
class ImportDay:
    """The numbers of new, changed, and removed documents in the imports of one day (UTC)."""

    day: date
    counts: Mapping[str, int]
