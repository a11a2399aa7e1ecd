"""The kinds of sources: what a person fills in for each, and the loader that comes of it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol

from domain import DocumentRef, Principal, Skipped, Wait
from errors import InputError, SourceError
from services.import_run import Loader
from services.source_fields import Field, Given
from storage.sources import Sources, StoredSource

_LISTED = 200
_CHECK_PATH = "check the path, and the patterns if there are any"
TITLES = 5


@dataclass(frozen=True, slots=True)
class Seen:
    """What a connection test saw: of the `documents` listed the first titles.

    `is_all` is False where there are more than were listed; `skipped` can't be imported;
    `warnings` tell what a person should know before adding it, `notes` what else was seen: who is
    signed in, which spaces there are.
    """

    documents: int
    titles: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    is_all: bool = True
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Added:
    """A source that is kept now.

    `refused` was given with it and could not be taken; `warnings` as for `Seen`.
    """

    source: StoredSource
    refused: tuple[Skipped, ...] = ()
    warnings: tuple[str, ...] = ()


class SameSourceError(SourceError):
    """The source is there already: `source`."""

    def __init__(self, source: StoredSource) -> None:
        super().__init__(f"{source.location} is a source already: {source.name}.")
        self.source = source


class SourceKind(Protocol):
    """One kind of source. Another kind is another of these, named in bootstrap."""

    @property
    def name(self) -> str:
        """What it is called in the ledger."""

    @property
    def fields(self) -> Sequence[Field]:
        """What is to be filled in, in this order."""

    def check(self, principal: Principal, given: Given) -> Seen:
        """Look at what is there, as an import would; nothing is kept.

        Raises:
            SourceError: A value is missing or wrong, the source can't be listed or holds nothing
                to import; the message says what to do.
        """

    def add(self, principal: Principal, given: Given) -> "Added":
        """Keep the source that these values describe.

        Raises:
            SourceError: A value is missing or wrong; the message says what to do.
            SameSourceError: It is there already.
        """

    def given(self, source: StoredSource) -> Given:
        """What a form for editing the source begins with; no secret."""

    def edited(self, source: StoredSource, given: Given) -> Mapping[str, Any]:
        """The options that such a form leaves the source with; it stays where it is.

        Raises:
            SourceError: A value is wrong; the message says what to do.
        """

    def loader(self, source: StoredSource, wait: Wait) -> Loader:
        """Lists and reads its documents; where the source asks for patience, it does `wait`.

        Raises:
            SourceError: It can't be read from here (any more).
        """

    def forget(self, source: StoredSource) -> None:
        """Delete files that `add` kept of a source that is removed; what it read stays."""


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

    def loader(self, source: StoredSource, wait: Wait) -> Loader:
        """The loader of a source that is kept; it does `wait` where the source asks for patience.

        Raises:
            SourceError: The source can't be read from here (any more).
        """
        return self.get(source.kind).loader(source, wait)


def look(loader: Loader, location: str, hint: str = _CHECK_PATH) -> Seen:
    """The beginning of what a loader lists; `hint` says what to do where it lists nothing.

    Raises:
        SourceError: There is nothing to import.
    """
    entries = (one for one in loader.list() if isinstance(one, DocumentRef | Skipped))
    found = list(islice(entries, _LISTED + 1))
    listed = found[:_LISTED]
    keys = [entry.key for entry in listed if isinstance(entry, DocumentRef)]
    skipped = tuple(entry for entry in listed if isinstance(entry, Skipped))
    is_all = len(found) == len(listed)
    if is_all and not keys:
        raise SourceError(_nothing(location, skipped, hint))
    return Seen(len(keys), tuple(keys[:TITLES]), skipped, is_all)


def _nothing(location: str, skipped: Sequence[Skipped], hint: str) -> str:
    if skipped:
        return (
            f"Nothing at {location} can be imported: of {len(skipped)} files the first is"
            f" {skipped[0].title or skipped[0].key} ({skipped[0].reason})."
        )
    return f"There is nothing to import at {location}: {hint}."


def keep_once(sources: Sources, draft: StoredSource) -> Added:
    """Keep a source whose location is new.

    Raises:
        SameSourceError: It is not.
    """
    known = sources.find(draft.kind, draft.location)
    if known is not None:
        raise SameSourceError(known)
    return Added(sources.ensure(draft.kind, draft.location, name=draft.name, options=draft.options))
