"""Texts of composed answers, and names of values, in English, Korean, and Japanese."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from domain import Aspect, CatalogDescription, NamedValue, RetrievedPassage, Words
from services.catalog.word_finder import word_list

LANGUAGE_NAMES: Mapping[str, str] = {"en": "English", "ko": "Korean", "ja": "Japanese"}
"""The names of the languages in prompts."""


@dataclass(frozen=True, slots=True)
class AnswerTexts:
    """The texts in one language; none of them makes a claim about a place without a citation."""

    intro: str
    rating: str
    praised: str
    blamed: str
    unsaid: str
    review: str
    original: str
    nothing: str
    without: str
    separator: str
    either: str
    comma: str
    space: str
    at_least: str
    declined: str
    refusal: str
    listed: str
    types_title: str
    aspects_title: str
    aspects: Mapping[str, str]

    def nothing_found(self, filters: Sequence[str]) -> str:
        """Says that no place matches, and offers to search without one of the filters."""
        if not filters:
            return self.nothing
        return self.nothing + self.space + self.without.format(filters=self.separator.join(filters))


TEXTS = {language: AnswerTexts(**texts) for language, texts in word_list("answers").items()}
"""By language: en, ko, ja."""


def display_name(name: str) -> str:
    """A name as it is shown on its own: `italian_restaurant` as `Italian restaurant`."""
    text = name.replace("_", " ").strip()
    return text[:1].upper() + text[1:]


def value_name(value: str, described: Sequence[NamedValue], language: str) -> str:
    """The display name of a value in the data, such as italian_restaurant.

    This is the first of the described words; in English, it is the value itself.
    """
    words = _words(value, described)
    of_language = words.get(language, ()) if language != "en" else ()
    return of_language[0] if of_language else value.replace("_", " ")


def field_name(value: str, described: Sequence[NamedValue], language: str) -> str:
    """The display name of a filter value: the first of the described words, even in English.

    The value itself is often unclear without its column (for pets, "not allowed").
    """
    return (_words(value, described).get(language) or (value,))[0]


def _words(value: str, described: Sequence[NamedValue]) -> Words:
    return next((one.words for one in described if one.value == value), {})


def aspect_name(name: str, aspects: Sequence[Aspect], language: str) -> str:
    """The display name of an aspect; its English name if there is no translation."""
    if translation := TEXTS[language].aspects.get(name):
        return translation
    about: Words = next((one.about for one in aspects if one.name == name), {})
    words = about.get(language, ()) if language != "en" else ()
    return words[0] if words else name.replace("_", " ")


def group_name(group: str, description: CatalogDescription, language: str) -> str:
    """The label of reviews by a group, such as 한국인 리뷰."""
    names = dict(description.groups).get(group, {})
    return names.get(language) or names.get("en") or f"{group} {TEXTS[language].review}".strip()


def review_group(passage: RetrievedPassage, description: CatalogDescription) -> str | None:
    """The group of the reviewer; None if the passage is not a review or names no known group."""
    heading = passage.heading_path[-1] if len(passage.heading_path) > 1 else ""
    group = heading.partition(" · ")[0]
    return group if group in dict(description.groups) else None
