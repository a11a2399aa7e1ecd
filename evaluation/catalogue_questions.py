"""Labelled questions about a catalogue on disk: one JSON object a line."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from domain import CatalogueFilters, WantedValue, any_of
from errors import InputError
from evaluation.catalogue import BUCKETS


@dataclass(frozen=True, slots=True)
class CatalogueQuestion:
    """A question as people ask it, and what it means.

    `aspects` has the bucket (wanted, hedged, indifferent) of each aspect that it mentions;
    `unwanted` the types and field values that it turns down; `acceptable` the ids of the places
    that answer it, the best first.
    """

    id: str
    language: str
    text: str
    filters: CatalogueFilters
    aspects: Mapping[str, str] = field(default_factory=dict)
    unwanted: tuple[str, ...] = ()
    acceptable: tuple[str, ...] = ()


def load_catalogue_questions(path: Path) -> list[CatalogueQuestion]:
    """The labelled questions of a file, in its order.

    A line has `id`, `language`, `question`, `filters` (`desired_types`, `min_rating` and the
    catalogue's fields: a value, a list of those of which any will do, null where the question does
    not say), `aspect_weights` (how much it cares
    for each aspect it mentions: wanted, hedged or indifferent), perhaps `unwanted`, and
    `acceptable`.

    Raises:
        InputError: The file can't be read, or a line is no such object; the line is named.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} can't be read as labelled questions: {error}") from error
    found = [_read(path, number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if not found:
        raise InputError(f"{path} holds no question: write one JSON object a line.")
    return found


def _read(path: Path, number: int, line: str) -> CatalogueQuestion:
    try:
        return _question(json.loads(line))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path}, line {number}, is no labelled question: {error!r}") from error


def _question(row: dict[str, Any]) -> CatalogueQuestion:
    told = dict(row["filters"])
    types, least = told.pop("desired_types"), told.pop("min_rating")
    aspects = dict(row["aspect_weights"])
    for name, how in aspects.items():
        if how not in BUCKETS:
            raise ValueError(f"aspect_weights.{name} is {how!r}, not one of {', '.join(BUCKETS)}")
    return CatalogueQuestion(
        id=row["id"],
        language=row["language"],
        text=row["question"],
        filters=CatalogueFilters(
            fields={name: _wanted(value) for name, value in told.items() if value is not None},
            desired_types=None if types is None else tuple(types),
            min_rating=least,
        ),
        aspects=aspects,
        unwanted=tuple(row.get("unwanted", ())),
        acceptable=tuple(row["acceptable"]),
    )


def _wanted(value: str | list[str]) -> WantedValue:
    return any_of([value] if isinstance(value, str) else value)
