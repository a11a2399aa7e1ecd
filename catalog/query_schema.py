"""What a chat model may say of a question: the schema it is given, and the check of its reply."""

from collections.abc import Mapping, Sequence
from typing import Any

from domain.catalogue import CatalogueDescription, CatalogueFilters, any_of

TYPES, DECLINED, RATING = "desired_types", "declined_types", "min_rating"
MAX_QUERY_CHARS = 500
# More make the request long; the check knows them all the same.
_MAX_LISTED = 150


class WrongReplyError(ValueError):
    """A reply that is not what was asked for; the message tells the model all that is wrong."""


class QuerySchema:
    """The shape of an analysis for one catalogue."""

    def __init__(
        self,
        description: CatalogueDescription,
        values: Mapping[str, Sequence[str]],
        types: Sequence[str],
    ) -> None:
        """Args are kept: `values` are those of each filter, `types` all that there are."""
        self._aspects = description.aspect_names
        self._scale = description.rating_scale
        self._types = tuple(types)
        self._values = {field: tuple(held) for field, held in values.items() if held}

    def as_json(self) -> dict[str, Any]:
        """The JSON schema of the reply: null where nothing is said; declined types may miss.

        A filter of which several values will do is the list of these.
        """
        weight = {"type": ["number", "null"], "minimum": 0, "maximum": 1}
        filters: dict[str, Any] = {field: _any_of(held) for field, held in self._values.items()}
        for name in (TYPES, DECLINED):
            filters[name] = {"type": ["array", "null"], "items": _one_of(self._types, null=False)}
        filters[RATING] = {"type": ["number", "null"], "minimum": 0, "maximum": self._scale}
        return _object(
            {
                "query_en": {"type": "string", "description": "The question in English, one line"},
                "filters": _object(filters, optional=DECLINED),
                "aspect_weights": _object(dict.fromkeys(self._aspects, weight)),
            }
        )

    def read(
        self, reply: Mapping[str, Any]
    ) -> tuple[str, CatalogueFilters, dict[str, float | None]]:
        """The English query, the filters and the weights of a reply.

        Raises:
            WrongReplyError: Something in it is unknown, missing, or out of its range.
        """
        wrong = _keys(reply, {"query_en", "filters", "aspect_weights"}, "the analysis", all_=True)
        filters, weights = reply.get("filters"), reply.get("aspect_weights")
        wrong += _query_wrong(reply.get("query_en"))
        wrong += self._filters_wrong(filters)
        wrong += self._weights_wrong(weights)
        if wrong:
            raise WrongReplyError("; ".join(wrong))
        return reply["query_en"].strip(), self._filters(reply["filters"]), self._weights(weights)

    def _filters_wrong(self, filters: object) -> list[str]:
        if not isinstance(filters, Mapping):
            return ["filters must be an object"]
        wrong = _keys(filters, {*self._values, TYPES, DECLINED, RATING}, "filters")
        for field, held in self._values.items():
            if unknown := [one for one in _listed(filters.get(field)) if one not in held]:
                wrong.append(
                    f"filters.{field} must be one of its values, a list of some, or null,"
                    f" not {unknown[0]!r:.80}"
                )
        for name in (TYPES, DECLINED):
            wrong += self._types_wrong(filters.get(name), f"filters.{name}")
        return wrong + _number_wrong(filters.get(RATING), self._scale, f"filters.{RATING}")

    def _types_wrong(self, types: object, where: str) -> list[str]:
        if types is None:
            return []
        if not isinstance(types, list):
            return [f"{where} must be a list or null"]
        unknown = [one for one in types if one not in self._types]
        return [f"{where}: there is no type {one!r:.80}" for one in unknown[:5]]

    def _weights_wrong(self, weights: object) -> list[str]:
        if not isinstance(weights, Mapping):
            return ["aspect_weights must be an object"]
        wrong = _keys(weights, set(self._aspects), "aspect_weights")
        for name in self._aspects:
            wrong += _number_wrong(weights.get(name), 1, f"aspect_weights.{name}")
        return wrong

    def _filters(self, told: Mapping[str, Any]) -> CatalogueFilters:
        """A type that is both desired and declined is desired only."""
        listed = {field: _listed(told.get(field)) for field in self._values}
        fields = {field: any_of(values) for field, values in listed.items() if values}
        types = tuple(dict.fromkeys(told.get(TYPES) or ()))
        declined = dict.fromkeys(one for one in told.get(DECLINED) or () if one not in types)
        rating = None if told.get(RATING) is None else float(told[RATING])
        return CatalogueFilters(fields, types or None, rating, tuple(declined))

    def _weights(self, told: Any) -> dict[str, float | None]:
        weights = {name: told.get(name) for name in self._aspects}
        return {name: None if weight is None else float(weight) for name, weight in weights.items()}


def _object(properties: dict[str, Any], optional: str = "") -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name != optional],
        "additionalProperties": False,
    }


def _any_of(values: Sequence[str]) -> dict[str, Any]:
    several = {"type": "array", "items": _one_of(values, null=False)}
    return {"anyOf": [_one_of(values), several]}


def _one_of(values: Sequence[str], null: bool = True) -> dict[str, Any]:
    kind: dict[str, Any] = {"type": ["string", "null"] if null else "string"}
    if 0 < len(values) <= _MAX_LISTED:
        kind["enum"] = [*values, None] if null else [*values]
    return kind


def _listed(told: object) -> list[Any]:
    """What a reply says of a filter: nothing, a value or several."""
    if isinstance(told, list):
        return told
    return [] if told is None else [told]


def _keys(given: Mapping[str, Any], known: set[str], where: str, all_: bool = False) -> list[str]:
    wrong = [f"{where} has no {key!r:.60}" for key in list(given) if key not in known][:5]
    missing = sorted(known - set(given)) if all_ else []
    return wrong + [f"{key} is missing" for key in missing]


def _query_wrong(query: object) -> list[str]:
    if not isinstance(query, str) or not query.strip():
        return ["query_en must be a text that is not empty"]
    if len(query) > MAX_QUERY_CHARS:
        return [f"query_en must have at most {MAX_QUERY_CHARS} characters"]
    return [] if query.strip().isprintable() else ["query_en must be one line of plain text"]


def _number_wrong(value: object, most: float, where: str) -> list[str]:
    if value is None:
        return []
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if is_number and 0 <= value <= most:  # type: ignore[operator]  # not so for NaN
        return []
    return [f"{where} must be a number from 0 to {most:g} or null, not {value!r:.40}"]
