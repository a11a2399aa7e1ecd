"""Finds the filter values, types, and minimum rating that a question requests or declines."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import NamedTuple

from domain.language.script import HANGUL, KATAKANA
from domain.language.tokens import ENGLISH
from domain.places import (
    CatalogDescription,
    CatalogFilters,
    FilterValue,
    NamedValue,
    Words,
    any_of,
)
from services.catalog.lexicon import folded_forms, forms_of
from services.catalog.word_finder import (
    WORD_START,
    Match,
    Phrases,
    TypoFinder,
    WordFinder,
    fold_text,
)

_PHRASES, _RATINGS = Phrases("filters"), Phrases("ratings")
_NUMBER = r"(?<![\d.,$])(?P<number>\d{1,3}(?:\.\d{1,2})?)(?!\d|,\d|\.\d)"
_NUMBER_WORDS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5,
    "한": 1, "두": 2, "세": 3, "네": 4, "다섯": 5,
    "一": 1, "二": 2, "三": 3, "四": 4, "五": 5,
}  # fmt: skip
_WORD = (
    r"(?P<word>\b(?:one|two|three|four|five)\b|(?<=별 )(?:한|두|세|네|다섯)(?= ?개)|"
    r"(?<=별)(?:한|두|세|네|다섯)(?= ?개)|(?<=星)[一二三四五]|[一二三四五](?=つ星))"
)
_RATING = re.compile(f"(?:{_NUMBER}|{_WORD})(?P<half> and (?:a )?half)?")


def min_rating_in(text: str, scale: float) -> float | None:
    """The first minimum rating from 0 to `scale` in a folded question; None if there is none.

    Examples are "4.5점 이상", "rated above 4", and "星4以上".
    """
    for match in _RATING.finditer(text):
        before, after = text[max(0, match.start() - 40) : match.start()], text[match.end() :][:24]
        if _is_minimum(match, before, after):
            rating = float(_NUMBER_WORDS[match["word"]] if match["word"] else match["number"])
            rating += 0.5 if match["half"] else 0
            if rating <= scale:
                return rating
    return None


def _counts_stars(match: re.Match[str], before: str, after: str) -> bool:
    """Whether the number counts stars: 별 네 개, 星四つ, four stars, 4.5+.

    A bare 4+ counts stars only if it does not count anything else.
    """
    if match["word"]:
        return not match["word"].isascii() or _RATINGS["stars"].match(after) is not None
    if "." in match["number"]:
        return after.startswith("+")
    has_sign = _RATINGS["sign_after"].match(after) is not None
    return has_sign and not _RATINGS["counts_before"].search(before)


def _is_minimum(match: re.Match[str], before: str, after: str) -> bool:
    """Whether the context of a number makes it the minimum rating."""
    names_rating = _RATINGS.around("names_a_rating", before, after)
    if _RATINGS["no_rating_after"].match(after):
        return False
    is_rating = names_rating or "." in (match["number"] or "")
    rejects_lower = is_rating and _RATINGS["below_refused"].match(after)
    if rejects_lower or _RATINGS["nothing_below"].search(before):
        return True
    is_minimum = (
        names_rating
        or _counts_stars(match, before, after)
        or _RATINGS["sign_before"].search(before)
    )
    return bool(is_minimum) and not _RATINGS.around("at_most", before, after)


TYPES = ""
"""The `field` of a `Value` that is a type."""

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


class _ValueMention(NamedTuple):
    start: int
    end: int
    values: tuple[Value, ...]
    negated_before: bool
    negated_after: bool
    is_home: bool = False
    is_optional: bool = False

    @property
    def negated(self) -> bool:
        return self.negated_before or self.negated_after


class FilterReader:
    """Finds the values of one catalog in questions."""

    def __init__(
        self,
        description: CatalogDescription,
        values: Mapping[str, Sequence[str]],
        types: Sequence[str],
    ) -> None:
        """`values` (by filter) and `types` are those that occur in the data."""
        self._groups = _group_pattern(description)
        self._typos = TypoFinder(_data_names(description, values, types))
        self._finder = WordFinder(
            (_with_word_start(form), value)
            for value, forms in _words(description, values, types)
            for form in forms
        )

    def read(self, text: str, min_rating: float | None = None) -> CatalogFilters:
        """Find the filters in a folded question; types are in the order of the question.

        If a field has several values, a place may match any of them, no matter whether "or" or
        "and" joins them, because a place has only one value. A home, as in "I live in Queens", is a
        filter only if the question names no other value of that field. A type that is merely
        optional is neither desired nor declined.
        """
        mentions = _with_coordination(_without_heads(list(self._mentions(text))))
        negated = {value for one in mentions if one.negated for value in one.values}
        requested = dict.fromkeys(
            value
            for one in _without_homes(mentions)
            if not one.negated
            for value in one.values
            if value not in negated
        )
        rejections = [one for one in mentions if one.negated and not one.is_optional]
        declined = dict.fromkeys(value for one in rejections for value in one.values)
        fields, desired = _fields(requested), _types(requested) or None
        return CatalogFilters(fields, desired, min_rating, _types(declined))

    def _mentions(self, text: str) -> Iterator[tuple[str, _ValueMention]]:
        """Yield each mention of a value, with the text between it and the previous mention."""
        end = 0
        for match in self._matches(text):
            if _is_mention(text, match):
                before = text[max(0, match.start - _REACH) : match.start]
                after = text[match.end : match.end + _REACH]
                mention = _ValueMention(
                    *match,
                    negated_before=bool(_PHRASES["not_this_before"].search(before)),
                    negated_after=bool(_PHRASES["not_this_after"].match(after)),
                    is_home=_PHRASES.around("home", before, after),
                    is_optional=_PHRASES.around("need_not", before, after),
                )
                yield text[end : match.start], mention
                end = match.end

    def _matches(self, text: str) -> list[Match[Value]]:
        """Find the words for values, with or without a typo, except in names of reviewer groups."""
        exact = list(self._finder.find(text))
        typos = [one for one in self._typos.find(text) if not _overlaps(one, exact)]
        groups = [group.span() for group in self._groups.finditer(text)] if self._groups else []
        return [
            match
            for match in sorted((*exact, *typos), key=attrgetter("start"))
            if not any(start < match.end and match.start < end for start, end in groups)
        ]


def names_of(value: str) -> tuple[str, ...]:
    """The names of a value in the data; italian_restaurant becomes italian restaurant, italian."""
    plain = " ".join(value.replace("_", " ").split())
    return tuple(dict.fromkeys((plain, _GENERIC.sub("", plain), plain.replace(" ", ""))))


def _data_names(
    description: CatalogDescription, values: Mapping[str, Sequence[str]], types: Sequence[str]
) -> Iterator[tuple[str, Value]]:
    """The names derived from the values themselves, without the words of the description."""
    by_field = [(TYPES, (*types, *(one.value for one in description.types))), *values.items()]
    by_field += [(one.name, [value.value for value in one.values]) for one in description.filters]
    for field, of_field in by_field:
        for value in of_field:
            yield from ((name.casefold(), Value(field, value)) for name in names_of(value))


def _group_pattern(description: CatalogDescription) -> re.Pattern[str] | None:
    """Matches the names of groups of reviewers: Korean reviewers, 한국인 리뷰."""
    labels = [fold_text(name).text for _, names in description.groups for name in names.values()]
    keys = [fold_text(key).text for key, _ in description.groups]
    names = [re.escape(label).replace(r"\ ", " ?") for label in labels if label]
    people = _PHRASES["people"].pattern
    names += [rf"\b{re.escape(key)}(?:s\b|[ -](?:{people})\b)" for key in keys if key]
    return re.compile("|".join(names)) if names else None


def _overlaps(one: Match[Value], others: Sequence[Match[Value]]) -> bool:
    return any(one.start < other.end and other.start < one.end for other in others)


def _words(
    description: CatalogDescription, values: Mapping[str, Sequence[str]], types: Sequence[str]
) -> Iterator[tuple[Value, Iterable[str]]]:
    for field, of_field in [(TYPES, types), *values.items()]:
        for value in of_field:
            yield from _words_of(field, NamedValue(value))
    for type_ in description.types:
        yield from _words_of(TYPES, type_)
    for filter_ in description.filters:
        for described in filter_.values:
            yield from _words_of(filter_.name, described)


def _words_of(field: str, named: NamedValue) -> Iterator[tuple[Value, Iterable[str]]]:
    value = Value(field, named.value)
    names = [name for name in names_of(named.value) if _is_distinctive(name)]
    yield value, (form for name in names for form in forms_of(name, "en"))
    yield value, folded_forms(named.words)
    yield value, folded_forms(_without_generic(named.words))


def _without_generic(words: Words) -> dict[str, tuple[str, ...]]:
    """The words without generic nouns: 태국 음식 is also called 태국, as in 태국집."""
    return {
        language: tuple(
            short
            for name in names
            if _GENERIC_NOUN.search(name) and len(short := _GENERIC_NOUN.sub("", name)) > 1
        )
        for language, names in words.items()
    }


def _is_distinctive(name: str) -> bool:
    """Whether the name identifies a value; questions use 3, A, or "no" with other meanings."""
    return len(name) > 1 and not name.isdigit() and name.casefold() not in ENGLISH


def _with_word_start(form: str) -> str:
    is_short = len(form) == 1 and _HANGUL.match(form)
    return f"{WORD_START}{form}" if is_short else form


def _is_mention(text: str, match: Match[Value]) -> bool:
    word = text[match.start : match.end]
    before, after = text[max(0, match.start - 1) : match.start], text[match.end : match.end + 6]
    if _PHRASES["not_meant_after"].match(after):
        return False
    if len(word) == 1 and _HANGUL.match(word):
        return _PARTICLE.match(after) is not None
    is_short_katakana = len(word) < 3 and all(map(_KATAKANA.match, word))
    return not (is_short_katakana and _KATAKANA.search(before + after[:1]))


def _types(values: Iterable[Value]) -> tuple[str, ...]:
    return tuple(value.value for value in values if value.field == TYPES)


def _fields(values: Iterable[Value]) -> dict[str, FilterValue]:
    by_field: dict[str, list[str]] = {}
    for value in values:
        if value.field != TYPES:
            by_field.setdefault(value.field, []).append(value.value)
    return {field: any_of(of_field) for field, of_field in by_field.items()}


def _without_homes(mentions: Sequence[_ValueMention]) -> list[_ValueMention]:
    """Drop the person's home if the question requests another value of the field."""
    targets = {
        value.field
        for one in mentions
        if not one.is_home and not one.negated
        for value in one.values
        if value.field != TYPES
    }
    return [
        one for one in mentions if not (one.is_home and {v.field for v in one.values} & targets)
    ]


def _without_heads(
    mentions: Sequence[tuple[str, _ValueMention]],
) -> list[tuple[str, _ValueMention]]:
    """Drop the second type of a declined compound: declining a sushi bar does not decline bars."""
    merged: list[tuple[str, _ValueMention]] = []
    for gap, one in mentions:
        if merged and not gap.strip() and _is_declined_type(before := merged[-1][1], one):
            negated_after = before.negated_after or one.negated_after
            merged[-1] = merged[-1][0], before._replace(negated_after=negated_after)
        else:
            merged.append((gap, one))
    return merged


def _is_declined_type(mention: _ValueMention, head: _ValueMention) -> bool:
    return mention.negated and {one.field for one in (*mention.values, *head.values)} == {TYPES}


def _with_coordination(mentions: Sequence[tuple[str, _ValueMention]]) -> list[_ValueMention]:
    """Extend a negation to coordinated values: 이탈리안이나 피자 말고."""
    gaps, result = [gap for gap, _ in mentions], [one for _, one in mentions]
    for index in range(1, len(result)):
        before = result[index - 1]
        if before.negated_before and _PHRASES["also_denied"].fullmatch(gaps[index]):
            result[index] = result[index]._replace(
                negated_before=True, is_optional=before.is_optional
            )
    for index in range(len(result) - 1, 0, -1):
        after, one = result[index], result[index - 1]
        if after.negated_after and _PHRASES["denied_with"].fullmatch(gaps[index]):
            result[index - 1] = one._replace(negated_after=True, is_optional=after.is_optional)
    return result
