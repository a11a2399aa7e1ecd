"""A short English query made of what was understood of a question in another language."""

from collections.abc import Mapping

from catalog.values_said import names_of
from domain.catalogue import CatalogueDescription, CatalogueFilters, values_of
from language.script import script_of

_WISHES = {
    "food": "good food",
    "service": "friendly service",
    "ambience": "a good ambience",
    "price": "low prices",
    "hygiene": "good hygiene",
    "waiting": "no waiting",
    "accessibility": "easy access",
}
_ASKED_FOR = 0.5


def english_query(
    question: str,
    description: CatalogueDescription,
    filters: CatalogueFilters,
    weights: Mapping[str, float | None],
) -> str:
    """An English question in one line; else "italian restaurant with a good ambience in Brooklyn".

    Where nothing was understood the question itself, in one line. A type that is declined and a
    least rating are not worded, as vectors read neither "not" nor "at least".
    """
    if script_of(question) == "latin":
        return " ".join(question.split())
    wishes = [_wish(name) for name, weight in weights.items() if (weight or 0) > _ASKED_FOR]
    types = [names_of(value)[0] for value in filters.desired_types or ()]
    places = [
        " or ".join(_english(description, field, value) for value in values_of(wanted))
        for field, wanted in filters.fields.items()
    ]
    is_narrowed = bool(filters.declined_types) or filters.min_rating is not None
    if not (wishes or types or places or is_narrowed):
        return " ".join(question.split())
    pieces = [" or ".join(types) or "place"]
    pieces += [f"with {' and '.join(wishes)}"] if wishes else []
    return " ".join(pieces + [f"in {place}" for place in places])


def _wish(aspect: str) -> str:
    return _WISHES.get(aspect, f"good {aspect.replace('_', ' ')}")


def _english(description: CatalogueDescription, field: str, value: str) -> str:
    """The value as it is, unless it is in another script and has an English word."""
    if script_of(value) == "latin":
        return value
    known = [one for told in description.filters if told.name == field for one in told.values]
    words = [word for one in known if one.value == value for word in one.words.get("en", ())]
    return words[0] if words else value
