"""The kinds of sources: the form fields of each, and the contract of a kind."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from domain import DocumentRef, Principal, Skipped, Wait
from domain.errors import ConflictError, InputError, SourceError
from domain.messages import _
from services.access import Access
from services.imports.import_plan import Loader
from storage.ledger.source_store import StoredSource

FieldValues = Mapping[str, Any]
"""Form values by field name."""


class FieldType(StrEnum):
    """The type of a field: a line of text, a list of lines, files, a choice, or a bool."""

    TEXT = "text"
    LINES = "lines"
    FILES = "files"
    CHOICE = "choice"
    SWITCH = "switch"


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a kind's form; its initial value is `default`, or the first option of a choice.

    A secret field is never shown or stored in the options. A fixed field determines the source's
    location and can't be changed later. The field applies only if each choice in `when` has one of
    the options listed there.
    """

    name: str
    type: FieldType = FieldType.TEXT
    required: bool = False
    secret: bool = False
    fixed: bool = False
    default: str = ""
    options: tuple[str, ...] = ()
    when: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def applies(self, values: FieldValues) -> bool:
        """Whether the field is used, given these choices."""
        return all(values.get(name) in allowed for name, allowed in self.when.items())


def deciding(fields: Iterable[Field]) -> list[Field]:
    """The choices on which other fields depend, in order."""
    fields = list(fields)
    names = {name for one in fields for name in one.when}
    return [one for one in fields if one.name in names]


def secret_field(fields: Iterable[Field], values: FieldValues) -> Field:
    """The secret field for these choices; each login method has exactly one."""
    return next(one for one in fields if one.secret and one.applies(values))


def options_of(fields: Iterable[Field], values: FieldValues) -> dict[str, Any]:
    """The options to store: the values of the fields that apply, without secrets.

    Raises:
        SourceError: A choice has an unknown option.
    """
    fields = list(fields)
    chosen = {one.name: choice(values, one) for one in deciding(fields)}
    applicable = [one for one in fields if not one.secret and one.applies(chosen)]
    return {one.name: _value(values, one) for one in applicable}


def require_known_fields(fields: Iterable[Field], values: FieldValues) -> None:
    """Reject values for other fields.

    Raises:
        ConflictError: A field is unknown; the message omits its value, which could be a secret.
    """
    names = [one.name for one in fields]
    for name in values:
        if name not in names:
            allowed = ", ".join(names) or "none"
            raise ConflictError(
                _("There is no field {name}. The fields are: {fields}.").format(
                    name=repr(name), fields=allowed
                )
            )


def choice(values: FieldValues, one: Field) -> str:
    """The selected option, by default the first one.

    Raises:
        SourceError: The option is unknown.
    """
    chosen = str(values.get(one.name) or one.options[0])
    if chosen not in one.options:
        options = ", ".join(one.options)
        raise SourceError(
            _("{chosen} is not an option of {name}: choose one of {options}.").format(
                chosen=chosen, name=one.name, options=options
            )
        )
    return chosen


def required(values: FieldValues, name: str, what: str) -> str:
    """The text of a required field.

    Raises:
        SourceError: The field is empty.
    """
    text = str(values.get(name) or "").strip()
    if not text:
        raise SourceError(_("{what} is missing: enter it.").format(what=what))
    return text


def lines(values: FieldValues, name: str) -> list[str]:
    """The nonblank lines of a field."""
    value = values.get(name) or ()
    texts = value.splitlines() if isinstance(value, str) else value
    return [line.strip() for line in texts if line.strip()]


def items(texts: Sequence[str]) -> list[str]:
    """The sorted distinct items in the lines, which are separated by commas or spaces."""
    parts = (one for line in texts for one in line.replace(",", " ").split())
    return sorted(set(parts))


def _value(values: FieldValues, one: Field) -> Any:
    if one.type is FieldType.CHOICE:
        return choice(values, one)
    if one.type is FieldType.SWITCH:
        return bool(values.get(one.name))
    if one.type is FieldType.LINES:
        return lines(values, one.name)
    return str(values.get(one.name) or "").strip()


_SHOWN_CHARS = 300


def _from_home(text: str) -> Path:
    """The path with a leading `~` or `~user` expanded, if that home folder exists."""
    try:
        return Path(text).expanduser()
    except RuntimeError:  # no such user
        return Path(text)


def require_there(path: Path) -> None:
    """Reject a path that can't be read or stored.

    Raises:
        SourceError: The path does not exist or can't be opened, or its name or the name of its
            link target is not UTF-8.
    """
    try:
        path.stat()
        resolved = path.resolve()
    except PermissionError as error:
        raise SourceError(
            _(
                "{path} can't be opened: grant read permission to the user who runs Footnote."
            ).format(path=display_path(path))
        ) from error
    except (OSError, ValueError) as error:  # ValueError: a name with NUL
        raise SourceError(
            _("{path} does not exist: check the spelling of the path.").format(
                path=display_path(path)
            )
        ) from error
    for name in (path, resolved):  # the resolved path is stored
        if str(name).encode(errors="replace").decode() != str(name):
            raise SourceError(
                _("The name of {path} is not valid UTF-8: rename it.").format(
                    path=display_path(name)
                )
            )


def server_path(values: FieldValues, what: str, example: str) -> Path:
    """The path that a form names, with symbolic links resolved; `what` and `example` describe it.

    Raises:
        SourceError: It is missing, relative, or does not exist, or can't be opened.
    """
    path = _from_home(required(values, "path", what))
    if not path.is_absolute():
        raise SourceError(
            _("{path} is not an absolute path: enter a full path such as {example}.").format(
                path=display_path(path), example=example
            )
        )
    require_there(path)
    return path.resolve()


def display_path(path: Path) -> str:
    """The path for messages, shortened and with undecodable bytes as `?`."""
    return str(path).encode(errors="replace").decode()[:_SHOWN_CHARS]


_LISTED = 200
_CHECK_PATH = _("check the path, and the patterns if there are any")
TITLES = 5


@dataclass(frozen=True, slots=True)
class SourcePreview:
    """The result of a connection test.

    `documents` is the number of listed documents, and `titles` are the first titles; `is_all` is
    False if there are more documents. `skipped` are documents that can't be imported. Users should
    read `warnings` before they add the source; `notes` are further information, such as the account
    and the visible spaces.
    """

    documents: int
    titles: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    is_all: bool = True
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SourceAddition:
    """A source that was added.

    `rejections` are the rejected files of an upload; `warnings` are like those of `SourcePreview`.
    """

    source: StoredSource
    rejections: tuple[Skipped, ...] = ()
    warnings: tuple[str, ...] = ()


class SameSourceError(SourceError):
    """The source already exists as `source`."""

    def __init__(self, source: StoredSource) -> None:
        super().__init__(
            _("{location} is already a source: {name}.").format(
                location=source.location, name=source.name
            )
        )
        self.source = source


class SourceKind(Protocol):
    """One kind of source; `bootstrap/import_services.py` lists them all."""

    @property
    def name(self) -> str:
        """The kind's name in the ledger."""

    @property
    def fields(self) -> Sequence[Field]:
        """The form fields in order."""

    def check(self, principal: Principal, values: FieldValues) -> SourcePreview:
        """Test the values without saving anything.

        Raises:
            SourceError: A value is missing or invalid, or the source can't be listed or contains
                nothing to import; the message says what to do.
        """

    def add(self, principal: Principal, values: FieldValues) -> "SourceAddition":
        """Save the source that these values describe.

        Raises:
            SourceError: A value is missing or invalid; the message says what to do.
            SameSourceError: The source already exists.
        """

    def field_values(self, source: StoredSource) -> FieldValues:
        """The initial values of a form to edit the source, without secrets."""

    def edited_options(self, source: StoredSource, values: FieldValues) -> Mapping[str, Any]:
        """The options after editing; fixed fields don't change.

        Raises:
            SourceError: A value is invalid; the message says what to do.
        """

    def loader(self, source: StoredSource, wait: Wait) -> Loader:
        """Create a loader for the source; it calls `wait` if the source asks to wait.

        Raises:
            SourceError: The source can't be read.
        """

    def forget(self, source: StoredSource) -> None:
        """Delete files that `add` saved, because the source is being removed; originals stay."""


class SourceKinds:
    """The registry of source kinds."""

    def __init__(self, kinds: Iterable[SourceKind]) -> None:
        """Create the registry; forms offer the kinds in this order."""
        self._kinds = {kind.name: kind for kind in kinds}

    def names(self) -> list[str]:
        """The names of the kinds, in the order in which forms offer them."""
        return list(self._kinds)

    def get(self, name: str) -> SourceKind:
        """The kind with this name; raises InputError if there is none."""
        if name not in self._kinds:
            names = ", ".join(self._kinds)
            raise InputError(
                _("There is no kind of source {name}. The kinds are {kinds}.").format(
                    name=repr(name), kinds=names
                )
            )
        return self._kinds[name]

    def loader(self, source: StoredSource, wait: Wait) -> Loader:
        """Create the loader of a saved source; see `SourceKind.loader`."""
        return self.get(source.kind).loader(source, wait)


def look(loader: Loader, location: str, hint: str = _CHECK_PATH) -> SourcePreview:
    """List the first documents of a loader; `hint` tells users what to do if there are none.

    Raises:
        SourceError: There is nothing to import.
    """
    entries = (one for one in loader.list() if isinstance(one, DocumentRef | Skipped))
    entries_found = list(islice(entries, _LISTED + 1))
    listed = entries_found[:_LISTED]
    keys = [entry.key for entry in listed if isinstance(entry, DocumentRef)]
    skipped = tuple(entry for entry in listed if isinstance(entry, Skipped))
    is_all = len(entries_found) == len(listed)
    if is_all and not keys:
        raise SourceError(_nothing(location, skipped, hint))
    return SourcePreview(len(keys), tuple(keys[:TITLES]), skipped, is_all)


def _nothing(location: str, skipped: Sequence[Skipped], hint: str) -> str:
    if skipped:
        return _(
            "Nothing at {location} can be imported. Files found: {skipped}; the first is"
            " {title} ({reason})."
        ).format(
            location=location,
            skipped=len(skipped),
            title=skipped[0].title or skipped[0].key,
            reason=skipped[0].reason,
        )
    return _("There is nothing to import at {location}: {hint}.").format(
        location=location, hint=hint
    )


def keep_once(access: Access, principal: Principal, draft: StoredSource) -> SourceAddition:
    """Save a new source.

    Raises:
        SameSourceError: A source with this location already exists.
        SourceError: It exists, but the principal may not read it.
    """
    existing = access.sources.find(draft.kind, draft.location)
    if existing is not None and access.sees(principal, existing.id):
        raise SameSourceError(existing)
    if existing is not None:
        raise SourceError(
            _(
                "{location} is already a source, which you may not read: ask an administrator for"
                " access."
            ).format(location=draft.location)
        )
    return SourceAddition(
        access.sources.ensure(draft.kind, draft.location, name=draft.name, options=draft.options)
    )
