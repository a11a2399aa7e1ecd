"""The answer that needs no model: what the facts and the reviewers say, word for word."""

import re
from collections.abc import Iterable, Iterator, Sequence

from catalog.answer_texts import (
    TEXTS,
    aspect_name,
    field_name,
    group_name,
    review_group,
    value_name,
)
from catalog.material import (
    SHOWN_PLACES,
    Material,
    by_wish,
    fit,
    holds,
    is_facts,
)
from catalog.patterns import TOP
from catalog.preferences import NEUTRAL
from catalog.translation import is_in
from chains.marker import Claim, Marker
from chains.markers import SHOWN_MARKER, Piece, Text, as_text
from chains.quotes import QuoteFinder
from chains.visible_text import shown
from chains.written_answer import quotation
from domain import CatalogueQuery, FoundPlace, Pattern, Source, values_of
from language.sentences import split_sentences
from language.tokens import content_tokens

LONGEST_QUOTE = 400
"""Longer words are not quoted: a marker that long would be no marker."""

# They turn the direction of the text behind them.
_UNSEEN = re.compile("[\u202a-\u202e\u2066-\u2069\u200e\u200f]")
_MARKDOWN = re.compile(r"([\\*_\[\]<>#|])")
# Inner quotation marks become single ones, so that the outer pair is plain to see. A lone backtick
# would make code of the marker behind it, even escaped.
_INNER = str.maketrans(dict.fromkeys('"“”„‟', "'") | {"`": None})


_Pieces = list[Piece]


def compose(material: Material) -> Iterator[_Pieces]:
    """The answer, pieces for each place: its name, what it is, what is praised and criticised.

    Every statement cites the source that says it. Where there is no place it says so, and which
    filters to leave out.
    """
    texts = TEXTS[material.language]
    if not material.places:
        yield [Text(texts.nothing_found([*map(_plain, _filters(material))]))]
        return
    yield [Text(texts.intro)]
    for number, found in enumerate(material.places[:SHOWN_PLACES], start=1):
        # A heading, for a name may be a sentence, and that would want a citation.
        heading = f"#### {number}. {_plain(found.place.title)}"
        items = [[Text("- "), *statement] for statement in _statements(material, found)]
        yield _joined([[Text(f"\n\n{heading}")], _joined(items, "\n")], "\n\n")


def _joined(parts: Iterable[_Pieces], separator: str) -> _Pieces:
    """The parts that are not empty in one."""
    joined: _Pieces = []
    for part in filter(None, parts):
        joined += [Text(separator), *part] if joined else part
    return joined


def _plain(text: str) -> str:
    """Text of the data as it is shown within Markdown."""
    return _MARKDOWN.sub(r"\\\1", _UNSEEN.sub("", text).replace("`", "'"))


def _statements(material: Material, found: FoundPlace) -> list[_Pieces]:
    sources = material.sources_about(found)
    wished = _readable_first(by_wish(found.patterns, material.weights), material.language)
    praise = [one for one in wished if one.praises]
    blame = [
        one
        for one in wished
        if not one.praises and material.weights.get(one.aspect, NEUTRAL) >= NEUTRAL
    ]
    praised = _first_said(material, praise, sources) or _fitting(material, found, sources)
    blamed = _first_said(material, blame, sources)
    told = (_facts(material, found, sources), praised, blamed, _unsaid(material, found))
    return list(filter(None, told))


def _readable_first(patterns: Sequence[Pattern], language: str) -> list[Pattern]:
    """The aspects in the same order, of each first what was said in the language of the answer."""
    order = {aspect: n for n, aspect in enumerate(dict.fromkeys(one.aspect for one in patterns))}
    return sorted(patterns, key=lambda one: (order[one.aspect], not _is_readable(one, language)))


def _is_readable(pattern: Pattern, language: str) -> bool:
    return any(is_in(quote.text, language) for quote in pattern.quotes)


def _unsaid(material: Material, found: FoundPlace) -> _Pieces:
    """Which of the aspects that the question asks for the place's reviews leave open."""
    # Of ten or more patterns some were not kept.
    if material.description.reviews is None or len(found.patterns) >= TOP:
        return []
    told = {one.aspect for one in found.patterns}
    asked = material.query.aspect_weights.items()
    names = [
        _plain(aspect_name(name, material.description.aspects, material.language).lower())
        for name, weight in asked
        if weight is not None and weight > NEUTRAL and name not in told
    ]
    return [Text(TEXTS[material.language].nothing_said(names))] if names else []


def _facts(material: Material, found: FoundPlace, sources: Sequence[Source]) -> _Pieces:
    """What it is, where, and its rating, as far as its facts say so."""
    facts = next(filter(is_facts, sources), None)
    if facts is None:
        return []
    description, place, language = material.description, found.place, material.language
    types = [value_name(one, description.types, language) for one in place.types]
    where = [
        _cited(facts, field_name(value, one.values, language), [one.column])
        for one in description.filters
        if (value := place.fields.get(one.name))
    ]
    comma = TEXTS[language].comma
    kinds = _cited(facts, _as_first(comma.join(types)), [description.types_column])
    rating_column = description.rating or "rating"
    value = _line(facts, rating_column).partition(": ")[2]
    rating = TEXTS[language].rating.format(rating=value) if value else ""
    return _joined([kinds, *where, _cited(facts, rating, [rating_column])], comma)


def _as_first(text: str) -> str:
    """The text as it begins a line."""
    return text[:1].upper() + text[1:]


def _cited(facts: Source, statement: str, columns: Sequence[str]) -> _Pieces:
    """The statement with the lines of those columns quoted; nothing where they can't be."""
    lines = [line for column in columns if column and (line := _line(facts, column))]
    quotes = [shown(line).translate(_INNER) for line in lines]
    if not statement or not quotes:
        return []
    finder = QuoteFinder(facts.text)
    if not all(len(quote) <= LONGEST_QUOTE and finder.find(quote) for quote in quotes):
        return []
    markers: Iterable[_Pieces] = (
        [Marker(f"[{facts.n}]", (Claim(facts.n, quote),))] for quote in quotes
    )
    return _joined([[Text(_plain(statement))], *markers], " ")


def _line(facts: Source, column: str) -> str:
    """The line of that column among the facts, "" where it has none."""
    start = f"{' '.join(column.split())}: "
    lines = (line.removeprefix("- ") for line in facts.text.splitlines())
    return next((line for line in lines if line.startswith(start)), "")


def _first_said(
    material: Material, patterns: Sequence[Pattern], sources: Sequence[Source]
) -> _Pieces:
    """The first of the patterns that can be quoted, with its quote."""
    return next(filter(None, (_said(material, one, sources) for one in patterns)), [])


def _said(material: Material, pattern: Pattern, sources: Sequence[Source]) -> _Pieces:
    language = material.language
    aspect = _plain(aspect_name(pattern.aspect, material.description.aspects, language))
    group = group_name(pattern.group, material.description, language)
    for quote in pattern.quotes:
        source = next((one for one in sources if holds(one, quote)), None)
        if source and (quoted := _quoted(quote.text, source)):
            label = _label(group, quote.text, language)
            said = TEXTS[language].judged(aspect, praises=pattern.praises)
            return [Text(f"{_as_first(said)} {label}: "), *quoted]
    return []


def _fitting(material: Material, found: FoundPlace, sources: Sequence[Source]) -> _Pieces:
    """Of the passage that fits the question best, and is no part of a pattern, what fits most."""
    told = [quote for pattern in found.patterns for quote in pattern.quotes]
    others = [
        one for one in sources if not is_facts(one) and not any(holds(one, quote) for quote in told)
    ]
    source = min(others, key=lambda one: fit(found, one.passage_id), default=None)
    if source is None:
        return []
    group = review_group(source, material.description)
    name = "" if group is None else group_name(group, material.description, material.language)
    for sentence in _by_likeness(source.text, material.query):
        if quoted := _quoted(sentence, source):
            label = _label(name, sentence, material.language)
            return [Text(f"{label}: "), *quoted] if label else quoted
    return []


def _by_likeness(text: str, query: CatalogueQuery) -> list[str]:
    """The sentences that are no headings, those that share most words with the question first."""
    asked = set(content_tokens(f"{query.question} {query.query_en}"))
    sentences = (text[start:end] for start, end in split_sentences(text))
    told = [one for one in sentences if not one.startswith("#")]
    return sorted(told, key=lambda one: -len(asked.intersection(content_tokens(one))))


def _quoted(text: str, source: Source) -> _Pieces:
    """The text between quotation marks and its marker; nothing where it could not be checked."""
    words = shown(text).translate(_INNER)
    if len(words) > LONGEST_QUOTE or not QuoteFinder(source.text).find(words):
        return []
    return quotation(source.n, words)


def _label(name: str, text: str, language: str) -> str:
    """Who says it, and that it is in another language, where there is anything to say of it."""
    original = "" if is_in(text, language) else TEXTS[language].original
    told = TEXTS[language].comma.join(filter(None, (name, original)))
    label = f"[{told}]" if told else ""
    return as_text(label).shown if SHOWN_MARKER.fullmatch(label) else label


def _filters(material: Material) -> list[str]:
    """What the question narrowed the places by, in the person's words."""
    filters, language = material.query.filters, material.language
    texts = TEXTS[language]
    named = {one.name: one.values for one in material.description.filters}
    told = [
        texts.either.join(
            field_name(value, named.get(name, ()), language) for value in values_of(wanted)
        )
        for name, wanted in filters.fields.items()
    ]
    types = material.description.types
    told += [
        texts.declined.format(type=value_name(one, types, language))
        for one in filters.declined_types
    ]
    if filters.min_rating is not None:
        told.append(texts.at_least.format(rating=filters.min_rating))
    return told
