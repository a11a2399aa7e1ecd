"""The description of a catalogue: a YAML file that says what the columns of its data mean."""

from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from domain import (
    ASPECTS,
    Aspect,
    CatalogueDescription,
    FilterField,
    NamedValue,
    ReviewColumns,
)
from errors import SourceError
from loaders.catalogue.told import LANGUAGES, Told

SUFFIXES = (".jsonl", ".csv", ".parquet")
"""The kinds of files that data can be in."""

_FIELDS = (
    *("catalogue", "places", "id", "title", "text", "facts", "types", "rating", "location"),
    *("filters", "reviews", "groups", "aspects"),
)
_REVIEW_FIELDS = ("file", "column", "place", "text", "id", "rating", "date", "group")
_OTHER_FILTERS = ("desired_types", "declined_types", "min_rating")
_MAX_BYTES = 2**20
_MAX_DEPTH = 20


def read_description(path: Path) -> dict[str, Any]:
    """What stands in a description's file, every scalar as the text it is written as.

    Nothing is said of its fields yet: `description_of` reads them.

    Raises:
        SourceError: There is no such file, or it is no YAML with fields.
    """
    text = _file_text(path)
    value = _yaml(path.name, text)
    if not isinstance(value, dict):
        raise SourceError(
            f"{path.name} describes no catalogue: write fields such as “catalogue: My places”"
        )
    return value


def description_of(told: Mapping[str, Any]) -> CatalogueDescription:
    """The description as it stands in a source's options, or as `read_description` gives it.

    Whether the data has the columns is not looked at.

    Raises:
        SourceError: A field is missing, unknown or wrong; the message begins with its path.
    """
    top = Told("", told).only(*_FIELDS)
    types = top.mapping("types").only("column", "words")
    rating = top.mapping("rating").only("column", "scale", "count")
    location = top.mapping("location").only("latitude", "longitude")
    return CatalogueDescription(
        name=top.required("catalogue"),
        places=_data_file(top, "places"),
        id=top.required("id"),
        title=top.required("title"),
        text=top.texts("text"),
        facts=top.texts("facts"),
        types_column=types.required("column") if types.values else "",
        types=_named_values(types),
        filters=tuple(_filter(filter_) for filter_ in top.mapping("filters").mappings()),
        rating=rating.required("column") if rating.text("count") else rating.text("column"),
        rating_scale=rating.above_zero("scale", 5.0),
        rating_count=rating.text("count"),
        latitude=location.required("latitude") if location.values else "",
        longitude=location.required("longitude") if location.values else "",
        reviews=_reviews(top.mapping("reviews")),
        groups=tuple(_groups(top)),
        aspects=_aspects(top.mapping("aspects")),
    )


def _data_file(fields: Told, key: str) -> str:
    file = fields.required(key)
    if not file.lower().endswith(SUFFIXES):
        raise SourceError(
            f"{fields.path(key)}: {file} can't be read; data is in files that end in"
            f" {', '.join(SUFFIXES)}"
        )
    path = PurePosixPath(file.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts:
        raise SourceError(
            f"{fields.path(key)}: {file} is not beside the description:"
            " put it there, or in a folder there"
        )
    return str(path)


def _named_values(fields: Told) -> tuple[NamedValue, ...]:
    words = fields.mapping("words").mappings()
    return tuple(NamedValue(value.strip(), told.words()) for value, told in words)


def _filter(named: tuple[str, Told]) -> FilterField:
    name, fields = named[0], named[1].only("column", "words")
    Told("filters", {}).name(name)
    if name in _OTHER_FILTERS:
        raise SourceError(f"filters.{name}: every catalogue has this filter: choose another name")
    return FilterField(name, fields.required("column"), _named_values(fields))


def _reviews(fields: Told) -> ReviewColumns | None:
    if not fields.values:
        return None
    told = {key: fields.only(*_REVIEW_FIELDS).text(key) for key in _REVIEW_FIELDS}
    if bool(told["file"]) == bool(told["column"]):
        raise SourceError(
            "reviews: either “file” or “column” says where reviews are, and one of them must"
        )
    if told["file"]:
        told |= {"file": _data_file(fields, "file"), "place": fields.required("place")}
    elif told["place"]:
        raise SourceError("reviews.place: reviews in a column belong to the place of their row")
    return ReviewColumns(**{**told, "text": fields.required("text")})


def _groups(top: Told) -> list[tuple[str, Mapping[str, str]]]:
    return [
        (name, {language: names.required(language) for language in names.only(*LANGUAGES).values})
        for name, names in top.mapping("groups").mappings()
    ]


def _aspects(fields: Told) -> tuple[Aspect, ...]:
    if not fields.values:
        return tuple(map(Aspect, ASPECTS))
    return tuple(_aspect(fields.name(name), words) for name, words in fields.mappings())


def _aspect(name: str, fields: Told) -> Aspect:
    fields.only("about", "good", "bad")
    about, good, bad = (fields.mapping(key).words() for key in ("about", "good", "bad"))
    if name not in ASPECTS and not any(map(any, (about.values(), good.values(), bad.values()))):
        raise SourceError(
            f"{fields.at}: it is none of the known aspects ({', '.join(ASPECTS)}) and needs words"
            " of its own, such as “about: {en: [battery]}”"
        )
    return Aspect(name, about, good, bad)


def refuse_no_file(path: Path) -> None:
    """Refuse what is there but is no file: opening a pipe could wait for ever.

    Raises:
        SourceError: It is a folder, a pipe or a device, or nobody may look.
    """
    try:
        is_other = path.exists() and not path.is_file()
    except OSError as error:
        raise SourceError(f"{path} can't be opened: {error.strerror or error}") from error
    if is_other:
        raise SourceError(f"{path} can't be opened: it is no file")


def _file_text(path: Path) -> str:
    refuse_no_file(path)
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise SourceError(f"{path} can't be opened: {error.strerror or error}") from error
    if len(data) > _MAX_BYTES:
        raise SourceError(f"{path.name} is too large for a description: 1 MiB is the most")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SourceError(f"{path.name} is not UTF-8: save it as UTF-8") from error


def _yaml(name: str, text: str) -> Any:
    import yaml  # type: ignore[import-untyped]  # it has no types; slow, and pages need none of it

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        _refuse_nesting(name, yaml.parse(text, Loader=loader), yaml)
        return _value(name, yaml.compose(text, Loader=loader))
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise SourceError(f"{name}: the YAML is broken at line {line}: {error.problem}") from error
    except yaml.YAMLError as error:
        raise SourceError(f"{name}: it holds a character that YAML does not allow") from error


def _refuse_nesting(name: str, events: Any, yaml: Any) -> None:
    """Refuse what would grow or go deep as it is read: a description needs neither."""
    depth = 0
    for event in events:
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > _MAX_DEPTH or isinstance(event, yaml.AliasEvent):
            line = event.start_mark.line + 1
            raise SourceError(
                f"{name}, line {line}: references and deep nesting are not read here: write it out"
            )


def _value(name: str, node: Any) -> Any:
    """A node of YAML as mappings, lists and texts, just as they are written."""
    if node is None or node.id == "scalar":
        return node and node.value
    if node.id == "sequence":
        return [_value(name, item) for item in node.value]
    found: dict[str, Any] = {}
    for key, value in node.value:
        where = f"{name}, line {key.start_mark.line + 1}"
        if key.id != "scalar":
            raise SourceError(f"{where}: the name of a field must stand before the colon")
        if key.value in found:
            raise SourceError(f"{where}: “{key.value}” stands there twice: keep one")
        found[key.value] = _value(name, value)
    return found
