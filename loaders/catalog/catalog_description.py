"""Parses the description of a catalog, a YAML file that maps the columns of its data."""

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO
from unicodedata import normalize

from domain import (
    ASPECTS,
    Aspect,
    CatalogDescription,
    FilterField,
    NamedValue,
    ReviewColumns,
    Words,
)
from domain.errors import SourceError
from domain.messages import _

LANGUAGES = ("en", "ko", "ja")
"""The languages in which a description can define words."""

_MAX_NAME = 40


@dataclass(frozen=True, slots=True)
class Fields:
    """A mapping in a description; `location` is the path of its field, "" for the root.

    The methods take the key of a field and raise `SourceError` if its value is invalid.
    """

    location: str
    values: Mapping[str, Any]

    def path(self, key: str) -> str:
        """The path of a field, such as reviews.text."""
        return f"{self.location}.{key}" if self.location else key

    def only(self, *known: str) -> "Fields":
        """Check that there are no fields other than these; returns `self`."""
        for key in self.values:
            if key not in known:
                raise SourceError(
                    _("{path}: unknown field; known fields are {known}").format(
                        path=self.path(str(key)), known=", ".join(known)
                    )
                )
        return self

    def required(self, key: str) -> str:
        """A stripped text that must not be empty."""
        text = self.text(key)
        if not text:
            raise SourceError(_("{path}: required, but missing").format(path=self.path(key)))
        return text

    def text(self, key: str) -> str:
        """A stripped text; "" if the field is missing."""
        return _text(self.path(key), self.values.get(key))

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of distinct texts; a single text becomes a list of one."""
        value = self.values.get(key)
        items = value if isinstance(value, list | tuple) else [value]
        texts = (_text(f"{self.path(key)}[{n}]", item) for n, item in enumerate(items, start=1))
        return tuple(dict.fromkeys(text for text in texts if text))

    def positive(self, key: str, default: float) -> float:
        """A positive number."""
        text = self.text(key)
        if not text:
            return default
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not (0 < number < math.inf):
            raise SourceError(
                _("{path}: {text} is not a positive number").format(path=self.path(key), text=text)
            )
        return number

    def mapping(self, key: str) -> "Fields":
        """A mapping; an empty one if the field is missing."""
        value = self.values.get(key)
        if value is None or value == "":
            value = {}
        if not isinstance(value, Mapping):
            raise SourceError(
                _("{path}: must have fields such as “name: value”").format(path=self.path(key))
            )
        return Fields(self.path(key), value)

    def mappings(self) -> Iterator[tuple[str, "Fields"]]:
        """Each key with its mapping, in order."""
        for key in self.values:
            yield str(key), self.mapping(key)

    def words(self) -> Words:
        """The mapping as words by language."""
        return {language: self.texts(language) for language in self.only(*LANGUAGES).values}

    def name(self, key: str) -> str:
        """The key, if it is a valid name for filters or aspects."""
        if not key.isidentifier() or len(key) > _MAX_NAME:
            raise SourceError(
                _(
                    "{path}: names consist of letters, digits, and _, begin with a letter, and have"
                    " at most {max_name} characters"
                ).format(path=self.path(key), max_name=_MAX_NAME)
            )
        return key


def _text(path: str, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise SourceError(_("{path}: must be text").format(path=path))
    return str(value).strip()


SUFFIXES = (".jsonl", ".csv", ".parquet")
"""The file types of data."""

_FIELDS = (
    *("catalog", "places", "id", "title", "text", "facts", "types", "rating", "location"),
    *("filters", "reviews", "groups", "aspects"),
)
_REVIEW_FIELDS = ("file", "column", "place", "text", "id", "rating", "date", "group")
_RESERVED_FILTERS = ("desired_types", "declined_types", "min_rating")
_MAX_BYTES = 2**20
_MAX_DEPTH = 20


def read_description(path: Path) -> dict[str, Any]:
    """The mapping in a description file, with scalars as texts; `description_of` parses it.

    Raises:
        SourceError: There is no such file, or it is not a YAML mapping.
    """
    text = _file_text(path)
    value = _yaml(path.name, text)
    if not isinstance(value, dict):
        raise SourceError(
            _(
                "{name} is not a catalog description: add fields such as “catalog: My places”"
            ).format(name=path.name)
        )
    return value


def description_of(values: Mapping[str, Any]) -> CatalogDescription:
    """Parse the result of `read_description`, which is also stored in a source's options.

    Whether the columns exist in the data is not checked.

    Raises:
        SourceError: A field is missing, unknown, or invalid; the message begins with its path.
    """
    if "catalogue" in values:  # the name of the field in older descriptions
        values = {key.replace("catalogue", "catalog"): value for key, value in values.items()}
    top = Fields("", values).only(*_FIELDS)
    types = top.mapping("types").only("column", "words")
    rating = top.mapping("rating").only("column", "scale", "count")
    location = top.mapping("location").only("latitude", "longitude")
    return CatalogDescription(
        name=top.required("catalog"),
        places=_data_file(top, "places"),
        id=top.required("id"),
        title=top.required("title"),
        text=top.texts("text"),
        facts=top.texts("facts"),
        types_column=types.required("column") if types.values else "",
        types=_named_values(types),
        filters=tuple(_filter(filter_) for filter_ in top.mapping("filters").mappings()),
        rating=rating.required("column") if rating.text("count") else rating.text("column"),
        rating_scale=rating.positive("scale", 5.0),
        rating_count=rating.text("count"),
        latitude=location.required("latitude") if location.values else "",
        longitude=location.required("longitude") if location.values else "",
        reviews=_reviews(top.mapping("reviews")),
        groups=tuple(_groups(top)),
        aspects=_aspects(top.mapping("aspects")),
    )


def _data_file(fields: Fields, key: str) -> str:
    file = fields.required(key)
    if not file.lower().endswith(SUFFIXES):
        raise SourceError(
            _("{key}: the file type of {file} is not supported: use {suffixes}").format(
                key=fields.path(key), file=file, suffixes=", ".join(SUFFIXES)
            )
        )
    path = PurePosixPath(file.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts:
        raise SourceError(
            _(
                "{key}: {file} must be in the folder of the description, or in a folder below it"
            ).format(key=fields.path(key), file=file)
        )
    return str(path)


def _named_values(fields: Fields) -> tuple[NamedValue, ...]:
    words = fields.mapping("words").mappings()
    return tuple(NamedValue(normalize("NFC", value.strip()), each.words()) for value, each in words)


def _filter(named: tuple[str, Fields]) -> FilterField:
    name, fields = named[0], named[1].only("column", "words")
    Fields("filters", {}).name(name)
    if name in _RESERVED_FILTERS:
        raise SourceError(
            _("filters.{name}: a built-in filter has this name; choose another one").format(
                name=name
            )
        )
    return FilterField(name, fields.required("column"), _named_values(fields))


def _reviews(fields: Fields) -> ReviewColumns | None:
    if not fields.values:
        return None
    columns = {key: fields.only(*_REVIEW_FIELDS).text(key) for key in _REVIEW_FIELDS}
    if bool(columns["file"]) == bool(columns["column"]):
        raise SourceError(_("reviews: set either “file” or “column” to say where the reviews are"))
    if columns["file"]:
        columns |= {"file": _data_file(fields, "file"), "place": fields.required("place")}
    elif columns["place"]:
        raise SourceError(_("reviews.place: remove it; reviews in a column belong to their row"))
    return ReviewColumns(**{**columns, "text": fields.required("text")})


def _groups(top: Fields) -> list[tuple[str, Mapping[str, str]]]:
    return [
        (name, {language: names.required(language) for language in names.only(*LANGUAGES).values})
        for name, names in top.mapping("groups").mappings()
    ]


def _aspects(fields: Fields) -> tuple[Aspect, ...]:
    if not fields.values:
        return tuple(map(Aspect, ASPECTS))
    return tuple(_aspect(fields.name(name), words) for name, words in fields.mappings())


def _aspect(name: str, fields: Fields) -> Aspect:
    fields.only("about", "good", "bad")
    about, good, bad = (fields.mapping(key).words() for key in ("about", "good", "bad"))
    if name not in ASPECTS and not any(map(any, (about.values(), good.values(), bad.values()))):
        raise SourceError(
            _(
                "{path}: aspects other than the built-in ones ({aspects}) need words, such as"
                " “about: {{en: [battery]}}”"
            ).format(path=fields.location, aspects=", ".join(ASPECTS))
        )
    return Aspect(name, about, good, bad)


@contextmanager
def open_file(path: Path) -> Iterator[BinaryIO]:
    """Open a regular file; opening a pipe could block forever.

    Raises:
        SourceError: It is missing, a folder, a pipe, or a device, or can't be opened or read.
    """
    try:
        if path.exists() and not path.is_file():
            raise SourceError(_("{path} can't be opened: it is not a file").format(path=path))
        with path.open("rb") as file:
            yield file
    except OSError as error:
        raise SourceError(
            _("{path} can't be opened: {strerror}").format(
                path=path, strerror=error.strerror or error
            )
        ) from error


def _file_text(path: Path) -> str:
    with open_file(path) as file:
        data = file.read(_MAX_BYTES + 1)
    if len(data) > _MAX_BYTES:
        raise SourceError(
            _("{name} is too large: the limit for a description is 1 MiB").format(name=path.name)
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise not_utf8(path.name) from error


def line_of(name: str, number: int) -> str:
    """A line of a file, as messages name it."""
    return _("{name}, line {number}").format(name=name, number=number)


def not_utf8(where: str) -> SourceError:
    """The error for a file or a line that is not UTF-8."""
    return SourceError(_("{where}: not UTF-8; save the file as UTF-8").format(where=where))


def _yaml(name: str, text: str) -> Any:
    import yaml  # type: ignore[import-untyped]  # no types; slow to load, and pages don't need it

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        _refuse_nesting(name, yaml.parse(text, Loader=loader), yaml)
        return _value(name, yaml.compose(text, Loader=loader))
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise SourceError(
            _("{name}, line {line}: invalid YAML: {problem}").format(
                name=name, line=line, problem=error.problem
            )
        ) from error
    except yaml.YAMLError as error:
        raise SourceError(
            _("{name} contains a character that YAML does not allow").format(name=name)
        ) from error


def _refuse_nesting(name: str, events: Any, yaml: Any) -> None:
    """Reject aliases, which can expand without limit, and deep nesting."""
    depth = 0
    for event in events:
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > _MAX_DEPTH or isinstance(event, yaml.AliasEvent):
            line = event.start_mark.line + 1
            raise SourceError(
                _(
                    "{name}, line {line}: references and deep nesting are not supported: write out"
                    " the values"
                ).format(name=name, line=line)
            )


def _value(name: str, node: Any) -> Any:
    """A YAML node as mappings, lists, and texts, without conversion of scalars."""
    if node is None or node.id == "scalar":
        return node and node.value
    if node.id == "sequence":
        return [_value(name, item) for item in node.value]
    mapping: dict[str, Any] = {}
    for key, value in node.value:
        where = line_of(name, key.start_mark.line + 1)
        if key.id != "scalar":
            raise SourceError(
                _("{where}: the name of a field must precede the colon").format(where=where)
            )
        if key.value in mapping:
            raise SourceError(
                _("{where}: duplicate field “{name}”: keep one").format(where=where, name=key.value)
            )
        mapping[key.value] = _value(name, value)
    return mapping
