"""The library's documents as they are listed, narrowed down and counted."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum

from domain.documents import Metadata, Named, Passage


class DocumentOrder(StrEnum):
    """How documents are listed; DENSITY begins with the fewest characters per page."""

    TITLE = "title"
    NEWEST = "newest"
    PASSAGES = "passages"
    DENSITY = "density"


@dataclass(frozen=True, slots=True)
class DocumentFilter:
    """Which documents to list; what is left empty narrows nothing.

    Each of the `words` stands in the title or the key, in any case, whole or as a part. `scripts`
    are those of `language.script_of`; `warned` is only what an import warned of.
    """

    words: str = ""
    sources: tuple[str, ...] | None = None
    collections: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    warned: bool = False


@dataclass(frozen=True, slots=True)
class ListedDocument:
    """A document as a row of the library's table; `pages` is 0 in formats without pages.

    `details` are what its source told of it besides.
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
        """So few that there is hardly a line on a page mean a scan; None without pages."""
        return round(self.characters / self.pages) if self.pages else None


@dataclass(frozen=True, slots=True)
class FailedDocument(Named):
    """A document that could not be read; `failed_at` is None where it was not noted then.

    `title` is empty where its key, such as a path, names it.
    """

    source_id: str
    key: str
    location: str
    reason: str
    failed_at: datetime | None
    title: str = ""


@dataclass(frozen=True, slots=True)
class SharedPassage:
    """A passage, and how many of its characters stand in its neighbours too."""

    passage: Passage
    shared_before: int
    shared_after: int


@dataclass(frozen=True, slots=True)
class ImportDay:
    """How many documents the imports of one day (in UTC) found new, changed or gone."""

    day: date
    counts: Mapping[str, int]
