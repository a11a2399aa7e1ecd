"""Analyzes questions about a catalog by rules and word lists, without a model."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from domain.language.script import script_of
from domain.places import CatalogDescription, CatalogFilters, CatalogQuery, values_of
from services.catalog.lexicon import Lexicon
from services.catalog.preferences import NEUTRAL
from services.catalog.query_filters import FilterReader, min_rating_in, names_of
from services.catalog.query_weights import aspect_weights
from services.catalog.word_finder import fold_text

_ASPECT_PHRASES = {
    "food": "good food",
    "service": "friendly service",
    "ambience": "a good ambience",
    "price": "low prices",
    "hygiene": "good hygiene",
    "waiting": "no waiting",
    "accessibility": "easy access",
}


def english_query(
    question: str,
    description: CatalogDescription,
    filters: CatalogFilters,
    weights: Mapping[str, float | None],
) -> str:
    """The question on one line, or "italian restaurant with a good ambience in Brooklyn".

    A question in another script is reworded from its filters and weights, if there are any.
    Declined types and a minimum rating are omitted, because embeddings ignore "not" and "at least".
    """
    if script_of(question) == "latin":
        return " ".join(question.split())
    aspects = [_phrase(name) for name, weight in weights.items() if (weight or 0) > NEUTRAL]
    types = [names_of(value)[0] for value in filters.desired_types or ()]
    values = [
        " or ".join(_english(description, field, value) for value in values_of(filter_value))
        for field, filter_value in filters.fields.items()
    ]
    has_other_filters = bool(filters.declined_types) or filters.min_rating is not None
    if not (aspects or types or values or has_other_filters):
        return " ".join(question.split())
    parts = [" or ".join(types) or "place"]
    parts += [f"with {' and '.join(aspects)}"] if aspects else []
    return " ".join(parts + [f"in {value}" for value in values])


def _phrase(aspect: str) -> str:
    return _ASPECT_PHRASES.get(aspect, f"good {aspect.replace('_', ' ')}")


def _english(description: CatalogDescription, field: str, value: str) -> str:
    """The English name of a value in another script, if the description has one."""
    if script_of(value) == "latin":
        return value
    described = [
        one for filter_ in description.filters if filter_.name == field for one in filter_.values
    ]
    words = [word for one in described if one.value == value for word in one.words.get("en", ())]
    return words[0] if words else value


MAX_CHARS = 4_000
"""Maximum length of a question; the rest is ignored."""


class RuleAnalyzer:
    """Analyzes the questions about one catalog."""

    def __init__(
        self,
        description: CatalogDescription,
        values: Mapping[str, Sequence[str]] | None = None,
        types: Sequence[str] = (),
    ) -> None:
        """Build the word lists of the catalog, which is slow.

        Args:
            description: The catalog's filters, aspects, and words.
            values: The values that occur in the data, by filter name.
            types: The types that occur in the data.
        """
        self.types = tuple(dict.fromkeys((*(one.value for one in description.types), *types)))
        self.values = _values(description, values or {})
        self._description = description
        self._lexicon = Lexicon(description.aspects)
        self._filter_reader = FilterReader(description, values or {}, types)

    def analyze(self, question: str) -> CatalogQuery:
        """Analyze a question; never raises.

        The weights are those of `services.catalog.query_weights`; None for aspects that the
        question does not mention.
        """
        text = fold_text(question[:MAX_CHARS]).text
        min_rating = min_rating_in(text, self._description.rating_scale)
        filters = self._filter_reader.read(text, min_rating)
        mentioned = aspect_weights(text, self._lexicon)
        weights = {name: mentioned.get(name) for name in self._description.aspect_names}
        return self.with_english_query(CatalogQuery(question, "", filters, weights))

    def with_english_query(self, query: CatalogQuery) -> CatalogQuery:
        """Rebuild `query_en` from the current filters, for example after one was removed."""
        query_en = english_query(
            query.question, self._description, query.filters, query.aspect_weights
        )
        return replace(query, query_en=query_en)


def _values(
    description: CatalogDescription, values: Mapping[str, Sequence[str]]
) -> dict[str, tuple[str, ...]]:
    """All values of each filter, with those of the description first."""
    return {
        field.name: tuple(
            dict.fromkeys((*(one.value for one in field.values), *values.get(field.name, ())))
        )
        for field in description.filters
    }
