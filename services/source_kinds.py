"""The kinds of sources: what a person fills in for each, and the loader that comes of it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice
from typing import Any, Protocol

from domain import DocumentRef
from errors import InputError, SourceError
from services.import_run import Loader
from storage.sources import StoredSource

_LISTED = 200
_TITLES = 5

Given = Mapping[str, Any]
"""What a person filled in, by the names of the kind's fields."""


class FieldType(StrEnum):
    """What a field takes: a line of text, text line by line (a list), or files."""

    TEXT = "text"
    LINES = "lines"
    FILES = "files"


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a kind's form. A secret one is never shown, nor kept among the options."""

    name: str
    type: FieldType = FieldType.TEXT
    required: bool = False
    secret: bool = False


@dataclass(frozen=True, slots=True)
class Draft:
    """A source that is not kept yet: where it is, what it is called, what its loader needs."""

    kind: str
    location: str
    name: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Seen:
    """What a connection test saw: of the `documents` listed the first titles.

    `is_all` is False where there are more than were listed; `skipped` could not be looked at.
    """

    documents: int
    titles: tuple[str, ...]
    skipped: int
    is_all: bool


class SourceKind(Protocol):
    """One kind of source. Another kind is another of these, named in bootstrap."""

    @property
    def name(self) -> str:
        """What it is called in the ledger."""

    @property
    def fields(self) -> Sequence[Field]:
        """What is to be filled in, in this order."""

    def draft(self, given: Given) -> Draft:
        """The source that these values describe.

        Raises:
            SourceError: A value is missing or wrong; the message says what to do.
        """

    def given(self, source: StoredSource) -> Given:
        """What a form for editing the source begins with; no secret."""

    def loader(self, location: str, options: Mapping[str, Any]) -> Loader:
        """Lists and reads the documents at that location.

        Raises:
            SourceError: It can't be read from here (any more).
        """


class SourceKinds:
    """The kinds there are, by name."""

    def __init__(self, kinds: Iterable[SourceKind]) -> None:
        """Args: `kinds` in the order in which they are offered."""
        self._kinds = {kind.name: kind for kind in kinds}

    def names(self) -> list[str]:
        """The names of the kinds, as they are offered."""
        return list(self._kinds)

    def get(self, name: str) -> SourceKind:
        """The kind of that name.

        Raises:
            InputError: There is none.
        """
        if name not in self._kinds:
            known = ", ".join(self._kinds)
            raise InputError(f"There is no kind of source {name!r}. The known ones are {known}.")
        return self._kinds[name]

    def loader(self, source: StoredSource) -> Loader:
        """The loader of a source that is kept.

        Raises:
            SourceError: The source can't be read from here (any more).
        """
        return self.get(source.kind).loader(source.location, source.options)

    def check(self, kind: str, given: Given) -> Seen:
        """List the beginning of a source that is to be added, as an import would.

        Raises:
            SourceError: It can't be listed, or holds nothing to import; what to do is said.
        """
        draft = self.get(kind).draft(given)
        loader = self.get(kind).loader(draft.location, draft.options)
        found = list(islice(loader.list(), _LISTED + 1))
        seen = _seen(found[:_LISTED], is_all=len(found) <= _LISTED)
        if not seen.documents and seen.is_all:
            raise SourceError(_nothing(draft, seen))
        return seen


def _seen(found: Sequence[Any], *, is_all: bool) -> Seen:
    documents = [entry for entry in found if isinstance(entry, DocumentRef)]
    titles = tuple(ref.key for ref in documents[:_TITLES])
    return Seen(len(documents), titles, len(found) - len(documents), is_all)


def _nothing(draft: Draft, seen: Seen) -> str:
    if seen.skipped:
        return (
            f"Nothing at {draft.location} can be imported: {seen.skipped} files are of a type"
            " that Footnote doesn't read, or can't be opened."
        )
    return (
        f"There is nothing to import at {draft.location}: check the path, and the patterns if"
        " there are any."
    )


def required(given: Given, name: str, what: str) -> str:
    """The text of a field that must be filled in.

    Raises:
        SourceError: It is empty.
    """
    text = str(given.get(name) or "").strip()
    if not text:
        raise SourceError(f"{what} is missing: fill it in.")
    return text


def lines(given: Given, name: str) -> list[str]:
    """The lines of a field, without blank ones."""
    value = given.get(name) or ()
    told = value.splitlines() if isinstance(value, str) else value
    return [line.strip() for line in told if line.strip()]
