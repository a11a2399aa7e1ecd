"""Documents, as sources list them and as they are cut into passages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

Metadata = dict[str, Any]


class Named:
    """What has a key, and a title where the key tells people nothing."""

    __slots__ = ()

    key: str
    title: str

    @property
    def name(self) -> str:
        """What people call it."""
        return self.title or self.key


@dataclass(frozen=True, slots=True)
class DocumentRef(Named):
    """A document as its source lists it, before it is read.

    `key` names it within its source for ever (a relative path in NFC, a page id); `version`
    changes whenever its content does; `location` is what a person opens (a path or a URL). `title`
    names it for people where the key is one that only programs know.
    """

    key: str
    version: str
    location: str
    title: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Skipped(Named):
    """Something a source could not list, with the reason.

    Documents imported earlier whose key is `key`, or starts with it where it ends in "/",
    are kept: not being able to look is not the same as being gone. So are those below it where it
    `may_be_folder`, which is for what nobody could look at. It is no error where nothing is wrong
    with it: a picture in a folder of texts.
    """

    key: str
    location: str
    reason: str
    is_error: bool = True
    title: str = field(default="", compare=False)
    may_be_folder: bool = False

    @property
    def folder(self) -> str:
        """What the keys of documents within it begin with; "" where it is no folder for sure."""
        return f"{self.key.rstrip('/')}/" if self.may_be_folder or self.key.endswith("/") else ""


@dataclass(frozen=True, slots=True)
class Gone:
    """A document of an earlier import that its source holds no more, and why.

    What is neither listed nor skipped is gone as well; this tells a person the reason. Where it is
    not certain, as with a whole place that a lost right may only hide, a person confirms it.
    """

    key: str
    reason: str
    is_certain: bool = True


@dataclass(frozen=True, slots=True)
class Mark:
    """Where the next listing may begin, once all that was listed up to here is imported.

    `values` are what JSON holds, and nothing to anybody but the loader that gave them.
    """

    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class NewOptions:
    """What a source says of itself by now, such as what its columns mean.

    An import keeps `values` among the source's options before it reads; a dry run does not.
    """

    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Before:
    """What earlier imports left, for loaders that ask their source only for what has changed.

    `documents` are, by key, as the library holds them; `failed` could not be read when they were
    last tried. `mark` is that of the last import that left nothing to be tried again; it is
    empty where everything is to be listed.
    """

    documents: Mapping[str, DocumentRef] = field(default_factory=dict)
    failed: Mapping[str, DocumentRef] = field(default_factory=dict)
    mark: Mapping[str, Any] = field(default_factory=dict)


NOTHING_BEFORE = Before()
"""A source that was never imported."""

Listed = DocumentRef | Skipped | Gone | Mark | NewOptions
"""What loaders list; a mark, if any, comes last."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a document: `document_text[start:end] == text`, always.

    `page` counts from 1 and is None where the format has no pages.
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
    """The headings, from the topmost, that all of these heading paths begin with."""
    levels = zip(*paths, strict=False)
    return tuple(level[0] for level in takewhile(lambda level: len(set(level)) == 1, levels))
