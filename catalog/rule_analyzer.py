"""Understands questions about a catalogue by rules and words, in English, Korean and Japanese."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from catalog.english_query import english_query
from catalog.folded_text import folded
from catalog.lexicon import Lexicon
from catalog.rating_said import least_rating
from catalog.values_said import ValuesSaid
from catalog.weights_said import said_weights
from domain.catalogue import CatalogueDescription, CatalogueQuery

MAX_CHARS = 4_000
"""Of a longer question only the beginning is read."""


class RuleAnalyzer:
    """Reads questions without any model, always the same way."""

    def __init__(
        self,
        description: CatalogueDescription,
        values: Mapping[str, Sequence[str]] | None = None,
        types: Sequence[str] = (),
    ) -> None:
        """Get ready for one catalogue.

        Args:
            description: What it brings of words, aspects and its scale of ratings.
            values: By the names of its filters, the values that its data has.
            types: The types that its data has.
        """
        self.types = tuple(dict.fromkeys((*(one.value for one in description.types), *types)))
        self.values = _values(description, values or {})
        self._description = description
        self._lexicon = Lexicon(description.aspects)
        self._values_said = ValuesSaid(description, values or {}, types)

    def analyse(self, question: str) -> CatalogueQuery:
        """What the question asks for; never raises.

        An aspect that is not mentioned weighs None. The weights of the others are those of
        `catalog.weights_said`.
        """
        text = folded(question[:MAX_CHARS]).text
        rating = least_rating(text, self._description.rating_scale)
        filters = self._values_said.read(text, rating)
        said = said_weights(text, self._lexicon)
        weights = {name: said.get(name) for name in self._description.aspect_names}
        return self.reworded(CatalogueQuery(question, "", filters, weights))

    def reworded(self, query: CatalogueQuery) -> CatalogueQuery:
        """The query with the English wording of what it holds now, as after a filter was removed.

        That of an English question is the question itself.
        """
        told = (query.question, self._description, query.filters, query.aspect_weights)
        return replace(query, query_en=english_query(*told))


def _values(
    description: CatalogueDescription, values: Mapping[str, Sequence[str]]
) -> dict[str, tuple[str, ...]]:
    """All values of each filter, those of the description first."""
    return {
        field.name: tuple(
            dict.fromkeys((*(one.value for one in field.values), *values.get(field.name, ())))
        )
        for field in description.filters
    }
