"""What happens while a question about a catalogue is answered, in this order."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from domain import CatalogueQuery, Citation, FoundPlace, Source


@dataclass(frozen=True, slots=True)
class Understood:
    """How the question was understood, and the weight of each aspect, 0 to 1, for this person."""

    query: CatalogueQuery
    weights: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Ranked:
    """The places found, best first; `notices` say what is to be known, such as a missing term."""

    places: tuple[FoundPlace, ...]
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Written:
    """A piece of the answer's Markdown: markers are plain [n], documents' brackets escaped."""

    text: str


@dataclass(frozen=True, slots=True)
class CatalogueAnswer:
    """All that came of a question: `sources` are what the answer's citations number.

    `model` is with what it is signed; `language` is the person's (en, ko or ja).
    """

    catalogue_id: str
    query: CatalogueQuery
    weights: Mapping[str, float]
    places: tuple[FoundPlace, ...]
    answer: str
    citations: tuple[Citation, ...] = ()
    sources: tuple[Source, ...] = ()
    unsupported_sentences: int = 0
    notices: tuple[str, ...] = ()
    model: str = ""
    language: str = "en"
    timings_ms: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Answered:
    """The last event: all of it, the citations checked."""

    answer: CatalogueAnswer


CatalogueEvent = Understood | Ranked | Written | Answered
