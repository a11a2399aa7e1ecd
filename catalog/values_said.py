"""Which types and which values of filters a question asks for, and which it does not want."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from catalog.folded_text import folded
from catalog.known_words import forms_of, told_forms
from catalog.slips import Slips
from catalog.value_phrases import (
    ALSO_DENIED,
    DENIED_WITH,
    HOME_AFTER,
    HOME_BEFORE,
    NEED_NOT,
    NEED_NOT_AFTER,
    NOT_MEANT_AFTER,
    NOT_THIS,
    NOT_THIS_AFTER,
    PEOPLE,
)
from catalog.word_finder import Found, WordFinder
from domain.catalogue import (
    CatalogueDescription,
    CatalogueFilters,
    NamedValue,
    WantedValue,
    Words,
    any_of,
)
from language.characters import HANGUL, KATAKANA
from language.function_words import ENGLISH

TYPES = ""
"""The name under which types stand among the filters."""

_REACH = 48
_GENERIC = re.compile(r"[ _-](?:restaurant|shop|store)$")
_GENERIC_NOUN = re.compile(
    r" ?(?:음식점?|요리|식당|레스토랑|料理[店屋]?|レストラン| food| cuisine)$"
)
_PARTICLE = re.compile(
    r"(?![가-힣])|(?:[를을은의]|[가이](?!지| ?없| ?아니)|에서?|만|집|류|말고|빼고)(?![가-힣]{2})"
)
_HANGUL = re.compile(f"[{HANGUL}]")
_KATAKANA = re.compile(f"[{KATAKANA}]")


class Value(NamedTuple):
    """A value of a filter; `field` is `TYPES` for a type."""

    field: str
    value: str


class _Said(NamedTuple):
    start: int
    end: int
    values: tuple[Value, ...]
    denied_before: bool
    denied_after: bool
    is_home: bool = False
    is_needless: bool = False

    @property
    def denied(self) -> bool:
        return self.denied_before or self.denied_after


class ValuesSaid:
    """Finds the values of a catalogue in questions."""

    def __init__(
        self,
        description: CatalogueDescription,
        values: Mapping[str, Sequence[str]],
        types: Sequence[str],
    ) -> None:
        """Args are kept as words: `values` and `types` are what the data has."""
        self._groups = _reviewers(description)
        self._slips = Slips(_own_names(description, values, types))
        self._finder = WordFinder(
            (_marked(form), value)
            for value, forms in _words(description, values, types)
            for form in forms
        )

    def read(self, text: str, min_rating: float | None = None) -> CatalogueFilters:
        """The filters that a folded question asks for, types in its order.

        Of several values of a field any will do, be they said with "or" or with "and": a place has
        one of them. Where somebody stays is asked for only if nothing else of the field is. A type
        that only need not be is neither desired nor declined.
        """
        said = _together(_without_heads(list(self._said(text))))
        denied = {value for one in said if one.denied for value in one.values}
        wanted = dict.fromkeys(
            value
            for one in _without_homes(said)
            if not one.denied
            for value in one.values
            if value not in denied
        )
        refused = [one for one in said if one.denied and not one.is_needless]
        declined = dict.fromkeys(value for one in refused for value in one.values)
        fields, desired = _fields(wanted), _types(wanted) or None
        return CatalogueFilters(fields, desired, min_rating, _types(declined))

    def _said(self, text: str) -> Iterator[tuple[str, _Said]]:
        end = 0
        for found in self._found(text):
            if _is_meant(text, found):
                before, after = text[max(0, found.start - _REACH) : found.start], text[found.end :]
                yield (
                    text[end : found.start],
                    _Said(
                        found.start,
                        found.end,
                        found.meanings,
                        bool(NOT_THIS.search(before)),
                        bool(NOT_THIS_AFTER.match(after[:_REACH])),
                        bool(HOME_BEFORE.search(before) or HOME_AFTER.match(after[:_REACH])),
                        bool(NEED_NOT.search(before) or NEED_NOT_AFTER.match(after[:_REACH])),
                    ),
                )
                end = found.end

    def _found(self, text: str) -> list[Found[Value]]:
        """Words of values as they are and with a slip, but for those that name reviewers."""
        exact = list(self._finder.find(text))
        slips = [one for one in self._slips.find(text) if not _overlaps(one, exact)]
        groups = [group.span() for group in self._groups.finditer(text)] if self._groups else []
        return [
            found
            for found in sorted((*exact, *slips), key=lambda one: one.start)
            if not any(start < found.end and found.start < end for start, end in groups)
        ]


def names_of(value: str) -> tuple[str, ...]:
    """What a value of the data is called: italian_restaurant is an italian restaurant, italian."""
    plain = " ".join(value.replace("_", " ").split())
    return tuple(dict.fromkeys((plain, _GENERIC.sub("", plain), plain.replace(" ", ""))))


def _own_names(
    description: CatalogueDescription, values: Mapping[str, Sequence[str]], types: Sequence[str]
) -> Iterator[tuple[str, Value]]:
    """What the values are called by themselves, without the words that a description tells."""
    held = [(TYPES, (*types, *(one.value for one in description.types))), *values.items()]
    held += [(one.name, [named.value for named in one.values]) for one in description.filters]
    for field, named in held:
        for value in named:
            yield from ((name.casefold(), Value(field, value)) for name in names_of(value))


def _reviewers(description: CatalogueDescription) -> re.Pattern[str] | None:
    """Finds the names of the groups that write reviews: Korean reviewers, 한국인 리뷰."""
    told = [folded(name).text for _, names in description.groups for name in names.values()]
    keys = [folded(key).text for key, _ in description.groups]
    names = [re.escape(name).replace(r"\ ", " ?") for name in told if name]
    names += [rf"\b{re.escape(key)}(?:s\b|[ -](?:{PEOPLE})\b)" for key in keys if key]
    return re.compile("|".join(names)) if names else None


def _overlaps(one: Found[Value], others: Sequence[Found[Value]]) -> bool:
    return any(one.start < other.end and other.start < one.end for other in others)


def _words(
    description: CatalogueDescription, values: Mapping[str, Sequence[str]], types: Sequence[str]
) -> Iterator[tuple[Value, Iterable[str]]]:
    for field, held in [(TYPES, types), *values.items()]:
        for value in held:
            yield from _named(field, NamedValue(value))
    for named in description.types:
        yield from _named(TYPES, named)
    for told in description.filters:
        for named in told.values:
            yield from _named(told.name, named)


def _named(field: str, named: NamedValue) -> Iterator[tuple[Value, Iterable[str]]]:
    value = Value(field, named.value)
    names = [name for name in names_of(named.value) if _says_something(name)]
    yield value, (form for name in names for form in forms_of(name, "en"))
    yield value, told_forms(named.words)
    yield value, told_forms(_without_generic(named.words))


def _without_generic(words: Words) -> dict[str, tuple[str, ...]]:
    """태국 음식 is called 태국 too, as in 태국집."""
    shorter = {
        language: [_GENERIC_NOUN.sub("", word) for word in told if _GENERIC_NOUN.search(word)]
        for language, told in words.items()
    }
    return {
        language: tuple(word for word in told if len(word) > 1)
        for language, told in shorter.items()
    }


def _says_something(name: str) -> bool:
    """A value such as 3, A or no stands in questions that do not mean it."""
    return len(name) > 1 and not name.isdigit() and name.casefold() not in ENGLISH


def _marked(form: str) -> str:
    is_short = len(form) == 1 and _HANGUL.match(form)
    return f"<{form}" if is_short else form


def _is_meant(text: str, found: Found[Value]) -> bool:
    word = text[found.start : found.end]
    before, after = text[max(0, found.start - 1) : found.start], text[found.end : found.end + 6]
    if NOT_MEANT_AFTER.match(after):
        return False
    if len(word) == 1 and _HANGUL.match(word):
        return _PARTICLE.match(after) is not None
    is_short_katakana = len(word) < 3 and all(map(_KATAKANA.match, word))
    beside = before + after[:1]
    return not (is_short_katakana and _KATAKANA.search(beside))


def _types(values: Iterable[Value]) -> tuple[str, ...]:
    return tuple(value.value for value in values if value.field == TYPES)


def _fields(wanted: Iterable[Value]) -> dict[str, WantedValue]:
    held: dict[str, list[str]] = {}
    for value in wanted:
        if value.field != TYPES:
            held.setdefault(value.field, []).append(value.value)
    return {field: any_of(values) for field, values in held.items()}


def _without_homes(said: Sequence[_Said]) -> list[_Said]:
    """Without where somebody stays, if something else of that field is asked for."""
    aims = {
        value.field
        for one in said
        if not one.is_home and not one.denied
        for value in one.values
        if value.field != TYPES
    }
    return [one for one in said if not (one.is_home and {v.field for v in one.values} & aims)]


def _without_heads(said: Sequence[tuple[str, _Said]]) -> list[tuple[str, _Said]]:
    """Who does not want a sushi bar says nothing of bars."""
    kept: list[tuple[str, _Said]] = []
    for gap, one in said:
        if kept and not gap.strip() and _is_declined_type(before := kept[-1][1], one):
            denied_after = before.denied_after or one.denied_after
            kept[-1] = kept[-1][0], before._replace(denied_after=denied_after)
        else:
            kept.append((gap, one))
    return kept


def _is_declined_type(said: _Said, head: _Said) -> bool:
    return said.denied and {value.field for value in (*said.values, *head.values)} == {TYPES}


def _together(said: Sequence[tuple[str, _Said]]) -> list[_Said]:
    """What is named together with what is denied is denied too: 이탈리안이나 피자 말고."""
    gaps, kept = [gap for gap, _ in said], [one for _, one in said]
    for place in range(1, len(kept)):
        known = kept[place - 1]
        if known.denied_before and ALSO_DENIED.fullmatch(gaps[place]):
            kept[place] = kept[place]._replace(denied_before=True, is_needless=known.is_needless)
    for place in range(len(kept) - 1, 0, -1):
        known, before = kept[place], kept[place - 1]
        if known.denied_after and DENIED_WITH.fullmatch(gaps[place]):
            kept[place - 1] = before._replace(denied_after=True, is_needless=known.is_needless)
    return kept
