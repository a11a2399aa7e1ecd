"""Schemas of sources: the fields of each kind, the state, and the settings.

Requests may contain secrets; responses never do.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    Field,
    GetCoreSchemaHandler,
    StrictBool,
    StringConstraints,
    create_model,
)
from pydantic_core import CoreSchema, core_schema

from api.field_types import NOT_BLANK, Line, Page
from api.rest.answer_schemas import RequestModel, ResponseModel
from api.rest.import_routes import Import
from domain import ImportState
from services.sources.catalog_kind import CatalogKind
from services.sources.confluence_kind import ConfluenceKind
from services.sources.directory_source import DirectoryKind
from services.sources.google_drive_kind import GoogleDriveKind
from services.sources.source_kinds import Field as FieldOfKind
from services.sources.source_kinds import FieldType
from services.sources.source_service import Schedule, SourceSettings

_MAX_TEXT_CHARS = 20_000  # the key of a service account has 2,400 characters
_ABOUT: Mapping[str, str] = {
    "path": "Absolute path of the folder or file; of a catalog, of its YAML description",
    "include": "Glob patterns of the files to import; if empty, all files",
    "exclude": "Glob patterns of the files to exclude",
    "login": "How to sign in",
    "scope": "What to import",
    "url": "Address of the site, such as https://example.atlassian.net",
    "email": "Email address of the account",
    "user": "User name of the account",
    "api_token": "API token of the account",
    "access_token": "Personal access token",
    "password": "Password of the account",
    "spaces": "Spaces, by their keys",
    "trees": "Pages and their descendants, by their addresses or numbers",
    "page_labels": "Labels of the pages to import",
    "cql": "Query in the Confluence Query Language",
    "skip_labels": "Labels of the pages to exclude",
    "deletions": "How often to look for deleted pages",
    "attachments": "Whether to import attachments",
    "comments": "Whether to import comments",
    "archived": "Whether to import archived spaces",
    "mirror_permissions": "Whether only people who may read a document in the source find it",
    "service_account": "Key of a service account, as JSON",
    "oauth_token": ("JSON that `python cli.py google-login CLIENT_JSON --save TOKEN_FILE` writes"),
    "folders": "Folders and their contents, by their addresses or ids",
    "files": "Individual files, by their addresses or ids",
    "drives": "Shared drives, by their addresses or ids",
    "types": "File types, such as pdf; all readable types if empty",
}
_EXAMPLES: Mapping[str, Any] = {"path": ["/srv/handbook"], "exclude": [["drafts/**"]]}
_Text = Annotated[str, StringConstraints(max_length=_MAX_TEXT_CHARS)]
_Needed = Annotated[str, StringConstraints(max_length=_MAX_TEXT_CHARS, pattern=NOT_BLANK)]
_Lines = _Text | Annotated[list[Line], Field(max_length=1000)]


@dataclass(frozen=True)
class SentFields:
    """Describes a dictionary as an object with these fields, which contains only the sent ones.

    `fields` are arguments for pydantic's `create_model`.
    """

    name: str
    fields: Mapping[str, Any]

    def __get_pydantic_core_schema__(
        self, _source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """The schema of the object, validated to a dictionary."""
        model: type[BaseModel] = create_model(
            self.name,
            __base__=RequestModel,
            __cls_kwargs__={"use_attribute_docstrings": False},
            **self.fields,
        )
        return core_schema.no_info_after_validator_function(
            lambda body: body.model_dump(exclude_unset=True), handler.generate_schema(model)
        )


def _new_fields(name: str, fields: Iterable[FieldOfKind]) -> SentFields:
    """The values of a new source."""
    return SentFields(name, {one.name: _new(one) for one in fields})


def _changed_fields(name: str, *kinds: Iterable[FieldOfKind]) -> SentFields:
    """The changes to a source of any of these kinds, all of them optional.

    Whether the source's kind has these fields is checked later.
    """
    types: dict[str, Any] = {}
    for one in (one for fields in kinds for one in fields if not one.fixed):
        types[one.name] = types[one.name] | _type(one) if one.name in types else _type(one)
    return SentFields(
        name, {field: (type_, _optional_field(field)) for field, type_ in types.items()}
    )


def _new(one: FieldOfKind) -> tuple[Any, Any]:
    metadata: dict[str, Any] = {
        "description": _description(one),
        "examples": _EXAMPLES.get(one.name),
    }
    if one.required and not one.when:
        return _Needed, Field(**metadata)
    return _type(one), Field(_default(one), **metadata)


def _optional_field(name: str) -> Any:
    """An optional field without a default in the schema: leaving it out keeps the stored value."""
    return Field(default_factory=lambda: None, description=_ABOUT[name])


def _type(one: FieldOfKind) -> Any:
    match one.type:
        case FieldType.CHOICE:
            return Literal[one.options]
        case FieldType.SWITCH:
            return StrictBool
        case FieldType.LINES:
            return _Lines
        case FieldType.TEXT:
            return _Text
    raise TypeError(f"{one.name} takes {one.type}, which JSON can't represent")


def _default(one: FieldOfKind) -> Any:
    match one.type:
        case FieldType.CHOICE:
            return one.options[0]
        case FieldType.SWITCH:
            return False
        case FieldType.LINES:
            return []
    return one.default


def _description(one: FieldOfKind) -> str:
    with_choices = " and ".join(
        f"`{name}` is {' or '.join(options)}" for name, options in one.when.items()
    )
    when = f"; used only if {with_choices}" if with_choices else ""
    return f"{_ABOUT[one.name]}{when}{'; write-only' if one.secret else ''}"


_DIRECTORY = _new_fields("DirectoryFields", DirectoryKind.fields)
_CONFLUENCE = _new_fields("ConfluenceFields", ConfluenceKind.fields)
_GOOGLE_DRIVE = _new_fields("GoogleDriveFields", GoogleDriveKind.fields)
_CATALOG = _new_fields("CatalogFields", CatalogKind.fields)
_ANY_KIND = _changed_fields(
    "SourceFieldsChange",
    *(kind.fields for kind in (DirectoryKind, ConfluenceKind, GoogleDriveKind, CatalogKind)),
)
_FIELDS: Any = Field(description="Values of the fields (`GET /source-kinds`)")
_CHANGED: Any = Field(
    default_factory=dict,
    description="Changed fields, as for a new source of its kind; fields that locate the "
    "source can't be changed",
    examples=[{"exclude": ["drafts/**"]}],
)
_LABELS = Field(
    description="Labels of all documents of the source", examples=[["policy"]], max_length=50
)
_NAME = Field(
    description="Name of the source; if empty, its kind provides one", examples=["Handbook"]
)
_COLLECTION = Field(description="Collection of the source; if empty, its name", examples=["HR"])
_SCHEDULE = Field(description="How often the source is refreshed automatically", examples=["daily"])


class SourceField(ResponseModel):
    """A field of a kind of source."""

    name: str = Field(examples=["path"])
    """Name of the field in `fields` of a source"""
    type: FieldType = Field(examples=["text"])
    """Type of the value: one line of text, several lines, one of the options, or a Boolean"""
    required: bool = Field(examples=[True])
    """Whether the field is required"""
    secret: bool = Field(examples=[False])
    """Whether the value is write-only"""
    fixed: bool = Field(examples=[True])
    """Whether the value can't be changed later"""
    default: str = Field(examples=[""])
    """Default value; may be empty"""
    options: list[str] = Field(examples=[[]])
    """Allowed values of a choice, the first being the default; otherwise empty"""
    when: dict[str, list[str]] = Field(examples=[{"login": ["cloud"]}])
    """The field applies only if other fields have one of these values"""


class SourceKind(ResponseModel):
    """A kind of source and its fields."""

    name: str = Field(examples=["directory"])
    """Name of the kind"""
    fields: list[SourceField]
    """Fields of the kind, in display order"""


class SourceKindPage(Page[SourceKind]):
    """A page of kinds of sources."""


class SourceStatus(ResponseModel):
    """A source and its state."""

    id: str = Field(examples=["7c9e6679742540de944be07fc1f90ae7"])
    """Id of the source"""
    kind: str = Field(examples=["directory"])
    """Kind of the source; `upload` is an upload box"""
    name: str = Field(examples=["Handbook"])
    """Name of the source"""
    location: str = Field(examples=["/srv/handbook"])
    """Location of the source, as displayed to people"""
    fields: dict[str, Any] = Field(
        examples=[{"path": "/srv/handbook", "include": [], "exclude": []}]
    )
    """Current values; for a secret, at most the name of the variable that holds it"""
    collection: str = Field(examples=["HR"])
    """Collection of the source"""
    labels: list[str] = Field(examples=[["policy"]])
    """Labels of all documents of the source"""
    schedule: Schedule = Field(examples=["daily"])
    """How often the source is refreshed automatically"""
    paused: bool = Field(examples=[False])
    """Whether the source is paused and not refreshed automatically"""
    conversation_id: str = Field(examples=[""])
    """Id of the only conversation that can search the source; empty for all"""
    created_at: datetime = Field(examples=["2026-11-21T10:00:00Z"])
    """When the source was added, in UTC"""
    documents: int = Field(ge=0, examples=[4])
    """Number of its documents in the library"""
    passages: int = Field(ge=0, examples=[12])
    """Number of passages of these documents"""
    failed: int = Field(ge=0, examples=[0])
    """Number of documents that can't be read"""
    state: ImportState | None = Field(examples=["completed"])
    """State of the current import, or else of the last one; null if there was none"""
    current: Import | None
    """The import that is queued, running, paused, or interrupted; null if there is none"""
    last: Import | None
    """The latest import that has ended; null if there is none"""
    next_refresh: datetime | None = Field(examples=["2026-11-22T10:00:00Z"])
    """Time of the next automatic refresh, in UTC; null if there is none or the source is paused"""


class SourcePage(Page[SourceStatus]):
    """A page of sources: shared ones by name, then those of conversations."""


class _NewSource(RequestModel):
    """A source to add: the settings that all kinds share."""

    name: Annotated[Line, _NAME] = ""
    collection: Annotated[Line, _COLLECTION] = ""
    labels: Annotated[tuple[Line, ...], _LABELS] = ()
    schedule: Annotated[Schedule, _SCHEDULE] = Schedule.NEVER

    @property
    def settings(self) -> SourceSettings:
        """The settings as a value of the service."""
        return SourceSettings(self.name, self.collection, self.labels, self.schedule)


class NewDirectory(_NewSource):
    """A folder or a single file on the machine that Footnote runs on."""

    kind: Literal["directory"]
    """Kind of the source"""
    fields: Annotated[dict[str, Any], _DIRECTORY] = _FIELDS


class NewConfluence(_NewSource):
    """Pages of a Confluence site."""

    kind: Literal["confluence"]
    """Kind of the source"""
    fields: Annotated[dict[str, Any], _CONFLUENCE] = _FIELDS


class NewGoogleDrive(_NewSource):
    """Files of Google Drive."""

    kind: Literal["google_drive"]
    """Kind of the source"""
    fields: Annotated[dict[str, Any], _GOOGLE_DRIVE] = _FIELDS


class NewCatalog(_NewSource):
    """Places of a catalog, described by a YAML file on the machine that Footnote runs on."""

    kind: Literal["catalogue"]
    """Kind of the source"""
    fields: Annotated[dict[str, Any], _CATALOG] = _FIELDS


NewSource = Annotated[
    NewDirectory | NewConfluence | NewGoogleDrive | NewCatalog, Field(discriminator="kind")
]
"""A source of one of the kinds that can be added; files are uploaded instead."""


class SourceChange(RequestModel):
    """Changes to a source; omitted fields and empty secrets stay unchanged."""

    fields: Annotated[dict[str, Any], _ANY_KIND] = _CHANGED
    name: Annotated[Line | None, _NAME] = None
    collection: Annotated[Line | None, _COLLECTION] = None
    labels: Annotated[tuple[Line, ...] | None, _LABELS] = None
    schedule: Annotated[Schedule | None, _SCHEDULE] = None

    def over(self, before: SourceSettings) -> SourceSettings:
        """The settings after this change."""
        return replace(before, **self.model_dump(exclude={"fields"}, exclude_none=True))


class SkippedDocument(ResponseModel):
    """A document that can't be imported, and why."""

    key: str = Field(examples=["tool.exe"])
    """Key of the document within its source"""
    title: str = Field(examples=[""])
    """Title of the document; empty if it has none besides its key"""
    reason: str = Field(examples=["files of this kind are not read"])
    """Why it can't be imported"""


class SourceTest(ResponseModel):
    """The result of a test; nothing was stored."""

    documents: int = Field(ge=0, examples=[4])
    """Number of documents listed"""
    is_all: bool = Field(examples=[True])
    """Whether the whole source was listed"""
    titles: list[str] = Field(examples=[["leave.md"]])
    """Titles of the first documents"""
    skipped: list[SkippedDocument]
    """Documents that can't be imported"""
    warnings: list[str] = Field(examples=[[]])
    """Warnings to consider before adding the source"""
    notes: list[str] = Field(examples=[[]])
    """Other findings, such as the signed-in account"""


class AddedSource(ResponseModel):
    """An added source; its first import must be requested separately."""

    source: SourceStatus
    """The source"""
    warnings: list[str] = Field(examples=[[]])
    """Warnings about the source"""


class ChangedSource(ResponseModel):
    """A changed source, and the import that updates its documents, if necessary."""

    source: SourceStatus
    """The source"""
    queued: Import | None
    """The queued import; null if the documents do not change"""


class RemovalPreview(ResponseModel):
    """What deleting a source removes; conversations keep their answers and the quoted evidence."""

    documents: int = Field(ge=0, examples=[4])
    """Number of documents to be removed"""
    passages: int = Field(ge=0, examples=[12])
    """Number of passages to be removed"""
    conversations: int = Field(ge=0, examples=[1])
    """Number of conversations that cite these documents"""
