"""Sources: what is filled in for each kind, how they stand, what is set of them.

A secret is among what is filled in and in none of the answers.
"""

from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from api.paging import Page
from api.schemas.answers import Given, Told
from api.schemas.imports import Import
from api.schemas.source_fields import ChangedFields, NewFields
from api.schemas.texts import Line
from domain import ImportState
from services.catalogue_kind import CatalogueKind
from services.confluence_kind import ConfluenceKind
from services.directory_kind import DirectoryKind
from services.google_drive_kind import GoogleDriveKind
from services.source_fields import FieldType
from services.source_status import Schedule, SourceSettings

_ADDED = tuple(
    kind.fields for kind in (DirectoryKind, ConfluenceKind, GoogleDriveKind, CatalogueKind)
)
_FIELDS: Any = Field(description="What is filled in (`GET /source-kinds`)")
_CHANGED: Any = Field(
    default_factory=dict,
    description="As for a new source of its kind; those that say where it is can't be changed",
    examples=[{"exclude": ["drafts/**"]}],
)
_LABELS = Field(description="Labels of each of its documents", examples=[["policy"]], max_length=50)
_NAME = Field(description="What it is called; empty: what its kind calls it", examples=["Handbook"])
_COLLECTION = Field(description="What it is filed under; empty: its name", examples=["HR"])
_SCHEDULE = Field(description="How often it is brought up to date by itself", examples=["daily"])
_SET = ("name", "collection", "labels", "schedule")


class SourceField(Told):
    """Something to be filled in for a kind of source."""

    name: str = Field(description="Its name among `fields` of a source", examples=["path"])
    type: FieldType = Field(
        description="What it takes: a line of text, several lines, one of the options, or yes or"
        " no",
        examples=["text"],
    )
    required: bool = Field(description="Whether there is no source without it", examples=[True])
    secret: bool = Field(description="Whether it goes in and never comes out", examples=[False])
    fixed: bool = Field(description="Whether it can't be changed later", examples=[True])
    default: str = Field(
        description='What holds where nothing is given, "" for nothing', examples=[""]
    )
    options: list[str] = Field(
        description="For a choice: one of these, the first if none is given; else empty",
        examples=[[]],
    )
    when: dict[str, list[str]] = Field(
        description="It is there only with these choices of other fields",
        examples=[{"login": ["cloud"]}],
    )


class SourceKind(Told):
    """A kind of source, and what is filled in for it."""

    name: str = Field(description="Name of the kind", examples=["directory"])
    fields: list[SourceField] = Field(description="What is filled in, in this order")


class SourceKindPage(Page[SourceKind]):
    """The kinds of sources."""


class SourceStatus(Told):
    """A source, and how it stands."""

    id: str = Field(description="Id of the source", examples=["7c9e6679742540de944be07fc1f90ae7"])
    kind: str = Field(description="Its kind; `upload` is a box of files", examples=["directory"])
    name: str = Field(description="What it is called", examples=["Handbook"])
    location: str = Field(description="Where it is, for people", examples=["/srv/handbook"])
    fields: dict[str, Any] = Field(
        description="What is filled in now; of a secret at most the variable that holds it",
        examples=[{"path": "/srv/handbook", "include": [], "exclude": []}],
    )
    collection: str = Field(description="What it is filed under", examples=["HR"])
    labels: list[str] = Field(description="Labels of each of its documents", examples=[["policy"]])
    schedule: Schedule = Field(
        description="How often it is brought up to date by itself", examples=["daily"]
    )
    paused: bool = Field(
        description="Whether it rests: it is not imported by itself", examples=[False]
    )
    conversation_id: str = Field(
        description='Id of the only conversation that may search it, "" for all', examples=[""]
    )
    created_at: datetime = Field(
        description="When it was added, in UTC", examples=["2026-11-21T10:00:00Z"]
    )
    documents: int = Field(
        ge=0, description="How many of its documents are in the library", examples=[4]
    )
    passages: int = Field(ge=0, description="How many passages these have", examples=[12])
    failed: int = Field(ge=0, description="How many documents can't be read", examples=[0])
    state: ImportState | None = Field(
        description="Of the import there is, or else of the last; null where there was none",
        examples=["completed"],
    )
    current: Import | None = Field(
        description="The import that is queued, at work, paused or interrupted; null where there"
        " is none"
    )
    last: Import | None = Field(
        description="The latest import that has ended; null where there is none"
    )
    next_refresh: datetime | None = Field(
        description="When it is imported by itself, in UTC; null for never and while it is paused",
        examples=["2026-11-22T10:00:00Z"],
    )


class SourcePage(Page[SourceStatus]):
    """Sources: shared ones by name, then those of conversations."""


class _NewSource(Given):
    """A source to be kept: what is set of it, whatever its kind."""

    name: Annotated[Line, _NAME] = ""
    collection: Annotated[Line, _COLLECTION] = ""
    labels: Annotated[tuple[Line, ...], _LABELS] = ()
    schedule: Annotated[Schedule, _SCHEDULE] = Schedule.NEVER

    @property
    def settings(self) -> SourceSettings:
        """What is set of it."""
        return SourceSettings(self.name, self.collection, self.labels, self.schedule)


class NewDirectory(_NewSource):
    """A folder, or a single file, of the machine that Footnote runs on."""

    kind: Literal["directory"] = Field(description="Its kind")
    fields: Annotated[dict[str, Any], NewFields("DirectoryFields", DirectoryKind.fields)] = _FIELDS


class NewConfluence(_NewSource):
    """Pages of a Confluence site."""

    kind: Literal["confluence"] = Field(description="Its kind")
    fields: Annotated[dict[str, Any], NewFields("ConfluenceFields", ConfluenceKind.fields)] = (
        _FIELDS
    )


class NewGoogleDrive(_NewSource):
    """Files of Google Drive."""

    kind: Literal["google_drive"] = Field(description="Its kind")
    fields: Annotated[dict[str, Any], NewFields("GoogleDriveFields", GoogleDriveKind.fields)] = (
        _FIELDS
    )


class NewCatalogue(_NewSource):
    """Places of a catalogue that a YAML file on the machine that Footnote runs on describes."""

    kind: Literal["catalogue"] = Field(description="Its kind")
    fields: Annotated[dict[str, Any], NewFields("CatalogueFields", CatalogueKind.fields)] = _FIELDS


NewSource = Annotated[
    NewDirectory | NewConfluence | NewGoogleDrive | NewCatalogue, Field(discriminator="kind")
]
"""A source of one of the kinds that can be added; files are uploaded instead."""


class SourceChange(Given):
    """What is to be changed of a source: what is left out stays, an empty secret too."""

    fields: Annotated[dict[str, Any], ChangedFields("SourceFieldsChange", _ADDED)] = _CHANGED
    name: Annotated[Line | None, _NAME] = None
    collection: Annotated[Line | None, _COLLECTION] = None
    labels: Annotated[tuple[Line, ...] | None, _LABELS] = None
    schedule: Annotated[Schedule | None, _SCHEDULE] = None

    def over(self, before: SourceSettings) -> SourceSettings:
        """The settings that it leaves."""
        told = {name: value for name in _SET if (value := getattr(self, name)) is not None}
        return replace(before, **told)


class Unread(Told):
    """What can't be imported, and why."""

    key: str = Field(description="Its name within the source", examples=["tool.exe"])
    title: str = Field(description='Its title, "" where its key names it', examples=[""])
    reason: str = Field(
        description="Why it can't be imported", examples=["files of this kind are not read"]
    )


class Seen(Told):
    """What a test saw; nothing was kept."""

    documents: int = Field(ge=0, description="So many were listed", examples=[4])
    is_all: bool = Field(description="Whether there are no more than that", examples=[True])
    titles: list[str] = Field(description="The first of them", examples=[["leave.md"]])
    skipped: list[Unread] = Field(description="What can't be imported")
    warnings: list[str] = Field(description="What to know before it is added", examples=[[]])
    notes: list[str] = Field(
        description="What else was seen, such as who is signed in", examples=[[]]
    )


class AddedSource(Told):
    """A source that is kept now; an import of it is still to be asked for."""

    source: SourceStatus = Field(description="The source")
    warnings: list[str] = Field(description="What to know of it", examples=[[]])


class ChangedSource(Told):
    """A source as it is now, and the import that brings its documents in line, if one does."""

    source: SourceStatus = Field(description="The source")
    queued: Import | None = Field(
        description="The import that was queued; null where its documents stay as they are"
    )


class Removal(Told):
    """What goes with a source; conversations keep their answers and the quoted evidence."""

    documents: int = Field(ge=0, description="How many documents go", examples=[4])
    passages: int = Field(ge=0, description="How many passages go", examples=[12])
    conversations: int = Field(
        ge=0, description="How many conversations cite its documents", examples=[1]
    )
