"""Composes an answer from facts and quotes of reviews, without a model."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from chains.citations.answer_reader import quotation
from chains.citations.marker_parser import SHOWN_MARKER
from chains.citations.markers import Claim, Marker, Piece, Text, as_text
from chains.citations.quotes import QuoteFinder
from chains.citations.visible_text import shown
from domain import CatalogQuery, FilterField, Pattern, PlaceHit, RetrievedPassage, values_of
from domain.language.sentences import split_sentences
from domain.language.tokens import content_tokens
from services.catalog.answer_material import (
    SHOWN_PLACES,
    Material,
    by_weight,
    contains,
    is_facts,
    match_rank,
)
from services.catalog.answer_texts import (
    TEXTS,
    AnswerTexts,
    aspect_name,
    display_name,
    field_name,
    group_name,
    review_group,
    value_name,
)
from services.catalog.preferences import NEUTRAL
from services.catalog.quote_translation import is_in
from services.catalog.review_patterns import TOP

if TYPE_CHECKING:
    from services.catalog.catalogs import Catalog

MAX_QUOTE_CHARS = 400
"""Longer text is not quoted, because a marker that long would not be recognized."""

# These characters change the direction of the text after them.
_DIRECTION_MARKS = re.compile("[\u202a-\u202e\u2066-\u2069\u200e\u200f]")
_MARKDOWN = re.compile(r"([\\*_\[\]<>#|])")
# Inner quotation marks become single, so that the outer pair stands out. So do backticks, because
# a lone one, even escaped, would turn the marker after it into code.
_INNER = str.maketrans(dict.fromkeys('"“”„‟`', "'"))


_Pieces = list[Piece]


def compose(material: Material) -> Iterator[_Pieces]:
    """Yield the introduction, then for each place its name, facts, praise, and criticism.

    Every statement has a citation. If there are no places, the answer says so and offers to search
    without one of the filters.
    """
    texts = TEXTS[material.language]
    if not material.places:
        yield [Text(texts.nothing_found([*map(_escape, _filter_names(material))]))]
        return
    yield [Text(texts.intro)]
    for number, hit in enumerate(material.places[:SHOWN_PLACES], start=1):
        # A name can be a sentence, which would need a citation outside of a heading.
        heading = f"#### {number}. {_escape(hit.place.title)}"
        items = [[Text("- "), *statement] for statement in _statements(material, hit)]
        yield _join([[Text(f"\n\n{heading}")], _join(items, "\n")], "\n\n")


LISTED = 5
"""Maximum number of types, and of values of a filter, that a refusal lists."""


def refusal_text(catalog: "Catalog", language: str) -> str:
    """Says that a question is not about the catalog, and lists what can be asked instead."""
    texts, description = TEXTS[language], catalog.description
    types = [value_name(one, description.types, language) for one in catalog.rules.types[:LISTED]]
    aspects = [aspect_name(one, description.aspects, language) for one in description.aspect_names]
    lines = [
        (texts.types_title, types),
        *(_choices(one, catalog.rules.values[one.name], language) for one in description.filters),
        (texts.aspects_title, aspects),
    ]
    items = [_list(title, names, texts) for title, names in lines if names]
    refusal = texts.refusal.format(catalog=_escape(catalog.name))
    return "\n".join([f"{refusal}\n", *(f"- {item}" for item in items)])


def _choices(field: FilterField, values: Sequence[str], language: str) -> tuple[str, list[str]]:
    """The column and its values; as on the page, values with names of their own need no column."""
    values = values[:LISTED]
    names = [field_name(value, field.values, language) for value in values]
    is_clear = all(name != value for name, value in zip(names, values, strict=True))
    return "" if is_clear else display_name(field.column), names


def _list(title: str, names: Sequence[str], texts: AnswerTexts) -> str:
    values = _escape(texts.comma.join(map(display_name, names)))
    return texts.listed.format(name=_escape(title), values=values) if title else values


def _join(parts: Iterable[_Pieces], separator: str) -> _Pieces:
    """Joins the parts that are not empty."""
    joined: _Pieces = []
    for part in filter(None, parts):
        joined += [Text(separator), *part] if joined else part
    return joined


def _escape(text: str) -> str:
    """Escape text from the data for Markdown."""
    return _MARKDOWN.sub(r"\\\1", _DIRECTION_MARKS.sub("", text).replace("`", "'"))


def _statements(material: Material, hit: PlaceHit) -> list[_Pieces]:
    passages = material.passages_of(hit)
    patterns = _readable_first(by_weight(hit.patterns, material.weights), material.language)
    praise = [one for one in patterns if one.praises]
    criticism = [
        one
        for one in patterns
        if not one.praises and material.weights.get(one.aspect, NEUTRAL) >= NEUTRAL
    ]
    statements = (
        _facts(material, hit, passages),
        _first_pattern(material, praise, passages) or _best_match(material, hit, passages),
        _first_pattern(material, criticism, passages),
        _missing_aspects(material, hit),
    )
    return list(filter(None, statements))


def _readable_first(patterns: Sequence[Pattern], language: str) -> list[Pattern]:
    """Within each aspect, move patterns with quotes in the language of the answer to the front."""
    order = {aspect: n for n, aspect in enumerate(dict.fromkeys(one.aspect for one in patterns))}
    return sorted(patterns, key=lambda one: (order[one.aspect], not _is_readable(one, language)))


def _is_readable(pattern: Pattern, language: str) -> bool:
    return any(is_in(quote.text, language) for quote in pattern.quotes)


def _missing_aspects(material: Material, hit: PlaceHit) -> _Pieces:
    """Names the requested aspects that the place's patterns don't cover."""
    # A place with that many patterns can have others that are not shown.
    if material.description.reviews is None or len(hit.patterns) >= TOP:
        return []
    covered = {one.aspect for one in hit.patterns}
    names = [
        _escape(aspect_name(name, material.description.aspects, material.language).lower())
        for name, weight in material.query.aspect_weights.items()
        if weight is not None and weight > NEUTRAL and name not in covered
    ]
    texts = TEXTS[material.language]
    return [Text(texts.unsaid.format(aspects=texts.comma.join(names)))] if names else []


def _facts(material: Material, hit: PlaceHit, passages: Sequence[RetrievedPassage]) -> _Pieces:
    """The types, filter values, and rating of the place, as far as its facts contain them."""
    facts = next(filter(is_facts, passages), None)
    if facts is None:
        return []
    description, place, language = material.description, hit.place, material.language
    types = [value_name(one, description.types, language) for one in place.types]
    values = [
        _cite(facts, field_name(value, one.values, language), one.column)
        for one in description.filters
        if (value := place.fields.get(one.name))
    ]
    comma = TEXTS[language].comma
    kinds = _cite(facts, _capitalize(comma.join(types)), description.types_column)
    rating_column = description.rating or "rating"
    value = _line(facts, rating_column).partition(": ")[2]
    rating = TEXTS[language].rating.format(rating=value) if value else ""
    return _join([kinds, *values, _cite(facts, rating, rating_column)], comma)


def _capitalize(text: str) -> str:
    return text[:1].upper() + text[1:]


def _cite(facts: RetrievedPassage, statement: str, column: str) -> _Pieces:
    """The statement with a citation of the column's line; empty if the line can't be quoted."""
    quote = shown(_line(facts, column)).translate(_INNER) if column else ""
    if not (statement and quote and _is_quotable(quote, facts)):
        return []
    marker = Marker(f"[{facts.n}]", (Claim(facts.n, quote),))
    return [Text(_escape(statement)), Text(" "), marker]


def _is_quotable(words: str, passage: RetrievedPassage) -> bool:
    return len(words) <= MAX_QUOTE_CHARS and bool(QuoteFinder(passage.text).find(words))


def _line(facts: RetrievedPassage, column: str) -> str:
    """The line of that column in the facts, or ""."""
    start = f"{' '.join(column.split())}: "
    lines = (line.removeprefix("- ") for line in facts.text.splitlines())
    return next((line for line in lines if line.startswith(start)), "")


def _first_pattern(
    material: Material, patterns: Sequence[Pattern], passages: Sequence[RetrievedPassage]
) -> _Pieces:
    """The first pattern that can be quoted, with its quote."""
    return next(filter(None, (_pattern(material, one, passages) for one in patterns)), [])


def _pattern(material: Material, pattern: Pattern, passages: Sequence[RetrievedPassage]) -> _Pieces:
    language = material.language
    aspect = _escape(aspect_name(pattern.aspect, material.description.aspects, language))
    group = group_name(pattern.group, material.description, language)
    for quote in pattern.quotes:
        passage = next((one for one in passages if contains(one, quote)), None)
        if passage and (pieces := _quotation(quote.text, passage)):
            label = _label(group, quote.text, language)
            intro = TEXTS[language].praised if pattern.praises else TEXTS[language].blamed
            return [Text(f"{_capitalize(intro.format(aspect=aspect))} {label}: "), *pieces]
    return []


def _best_match(material: Material, hit: PlaceHit, passages: Sequence[RetrievedPassage]) -> _Pieces:
    """The best sentence of the best matching passage, ignoring facts and quoted patterns."""
    quotes = [quote for pattern in hit.patterns for quote in pattern.quotes]
    others = [
        one
        for one in passages
        if not is_facts(one) and not any(contains(one, quote) for quote in quotes)
    ]
    passage = min(others, key=lambda one: match_rank(hit, one.passage_id), default=None)
    if passage is None:
        return []
    group = review_group(passage, material.description)
    name = "" if group is None else group_name(group, material.description, material.language)
    for sentence in _by_similarity(passage.text, material.query):
        if pieces := _quotation(sentence, passage):
            label = _label(name, sentence, material.language)
            return [Text(f"{label}: "), *pieces] if label else pieces
    return []


def _by_similarity(text: str, query: CatalogQuery) -> list[str]:
    """The sentences except headings, sorted by how many words they share with the question."""
    tokens = set(content_tokens(f"{query.question} {query.query_en}"))
    sentences = (text[start:end] for start, end in split_sentences(text))
    prose = [one for one in sentences if not one.startswith("#")]
    return sorted(prose, key=lambda one: -len(tokens.intersection(content_tokens(one))))


def _quotation(text: str, passage: RetrievedPassage) -> _Pieces:
    """The text in quotation marks with its marker; empty if it can't be verified."""
    words = shown(text).translate(_INNER)
    return quotation(passage.n, words) if _is_quotable(words, passage) else []


def _label(name: str, text: str, language: str) -> str:
    """Names the author, and says so if the text is not in the language of the answer."""
    original = "" if is_in(text, language) else TEXTS[language].original
    content = TEXTS[language].comma.join(filter(None, (name, original)))
    label = f"[{content}]" if content else ""
    return as_text(label).shown if SHOWN_MARKER.fullmatch(label) else label


def _filter_names(material: Material) -> list[str]:
    """The names of the question's filters in the language of the answer."""
    filters, language = material.query.filters, material.language
    texts, types = TEXTS[language], material.description.types
    described = {one.name: one.values for one in material.description.filters}
    names = [
        texts.either.join(
            field_name(one, described.get(name, ()), language) for one in values_of(value)
        )
        for name, value in filters.fields.items()
    ]
    names += [
        texts.declined.format(type=value_name(one, types, language))
        for one in filters.declined_types
    ]
    if filters.min_rating is not None:
        names.append(texts.at_least.format(rating=filters.min_rating))
    return names
