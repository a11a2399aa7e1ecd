"""What is filled in for a kind of source, described from the kind's own fields."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pydantic
from pydantic import BaseModel, GetCoreSchemaHandler, StrictBool, StringConstraints, create_model
from pydantic_core import CoreSchema, core_schema

from api.schemas.answers import Given
from api.schemas.texts import NOT_BLANK, Line
from services.source_fields import Field, FieldType

_MAX_TEXT_CHARS = 20_000  # a key of a service account has 2,400
_ABOUT: Mapping[str, str] = {
    "path": "The folder or file, from the top of the machine; of a catalogue its YAML description",
    "include": "Patterns of the files that are imported; none: all",
    "exclude": "Patterns of the files that are left out",
    "login": "How to sign in",
    "scope": "What of it is imported",
    "url": "The address of the site, such as https://example.atlassian.net",
    "email": "The account's e-mail address",
    "user": "The account's user name",
    "api_token": "The account's API token",
    "access_token": "A personal access token",
    "password": "The account's password",
    "spaces": "Spaces, by their keys",
    "trees": "Pages with all below them, by their addresses or numbers",
    "page_labels": "Labels of pages",
    "cql": "A query in Confluence's own language",
    "skip_labels": "Pages with one of these labels are left out",
    "deletions": "How often it is looked for what was deleted",
    "attachments": "Whether attached files are imported",
    "comments": "Whether comments are imported",
    "archived": "Whether archived spaces are imported too",
    "service_account": "The key of a service account, as JSON",
    "oauth_token": "What `python cli.py google-login` has written, as JSON",
    "folders": "Folders with all below them, by their addresses or ids",
    "files": "Single files, by their addresses or ids",
    "drives": "Shared drives, by their addresses or ids",
    "types": "Types of files, such as pdf; none: all that can be read",
}
_EXAMPLES: Mapping[str, Any] = {"path": ["/srv/handbook"], "exclude": [["drafts/**"]]}
_Text = Annotated[str, StringConstraints(max_length=_MAX_TEXT_CHARS)]
_Needed = Annotated[str, StringConstraints(max_length=_MAX_TEXT_CHARS, pattern=NOT_BLANK)]
_Lines = _Text | Annotated[list[Line], pydantic.Field(max_length=1000)]


@dataclass(frozen=True)
class NewFields:
    """Describes a dictionary as what is filled in for a new source with these fields."""

    name: str
    fields: Iterable[Field]

    def __get_pydantic_core_schema__(
        self, _source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Of a model with these fields, whose value is a dictionary of those that were given."""
        return _given(self.name, {one.name: _new(one) for one in self.fields}, handler)


@dataclass(frozen=True)
class ChangedFields:
    """Describes a dictionary as what is changed of a source of any kind: fields by kinds.

    Whether they are those of its own kind depends on the source.
    """

    name: str
    kinds: Iterable[Iterable[Field]]

    def __get_pydantic_core_schema__(
        self, _source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Of a model with the fields that can be changed, of which none has to be given."""
        types: dict[str, Any] = {}
        for one in (one for fields in self.kinds for one in fields if not one.fixed):
            types[one.name] = types[one.name] | _type(one) if one.name in types else _type(one)
        return _given(
            self.name, {name: (told, _kept(name)) for name, told in types.items()}, handler
        )


def _given(name: str, made: dict[str, Any], handler: GetCoreSchemaHandler) -> CoreSchema:
    model: type[BaseModel] = create_model(name, __base__=Given, **made)
    return core_schema.no_info_after_validator_function(
        lambda given: given.model_dump(exclude_unset=True), handler.generate_schema(model)
    )


def _new(one: Field) -> tuple[Any, Any]:
    told: dict[str, Any] = {"description": _described(one), "examples": _EXAMPLES.get(one.name)}
    if one.required and not one.when:
        return _Needed, pydantic.Field(**told)
    return _type(one), pydantic.Field(_default(one), **told)


def _kept(name: str) -> Any:
    """Of a field that stays as it is where it is left out: a default would tell otherwise."""
    return pydantic.Field(default_factory=lambda: None, description=_ABOUT[name])


def _type(one: Field) -> Any:
    match one.type:
        case FieldType.CHOICE:
            return Literal[one.options]
        case FieldType.SWITCH:
            return StrictBool
        case FieldType.LINES:
            return _Lines
        case FieldType.TEXT:
            return _Text
    raise TypeError(f"{one.name} takes {one.type}, which JSON can not hold")


def _default(one: Field) -> Any:
    match one.type:
        case FieldType.CHOICE:
            return one.options[0]
        case FieldType.SWITCH:
            return False
        case FieldType.LINES:
            return []
    return one.default


def _described(one: Field) -> str:
    with_choices = " and ".join(
        f"`{name}` {' or '.join(options)}" for name, options in one.when.items()
    )
    when = f"; with {with_choices}" if with_choices else ""
    return f"{_ABOUT[one.name]}{when}{'; comes out nowhere' if one.secret else ''}"
