"""Renders the results as cards with facts, score, patterns, and matching passages."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from domain import (
    CatalogDescription,
    CatalogQuery,
    Pattern,
    Place,
    PlaceHit,
    PlacePart,
    PlacePassage,
    Quote,
)
from domain.language.script import script_of
from domain.language.tokens import ENGLISH
from services.catalog.answer_texts import TEXTS
from services.catalog.place_match import (
    TYPE,
    MatchGroup,
    is_recognized,
    match_groups,
    unmet_requests,
)
from services.catalog.place_scores import PRIOR_WEIGHT
from services.catalog.preferences import NEUTRAL
from services.catalog.quote_translation import is_in
from ui.catalog.catalog_words import aspect_name, field_name, group_name, type_name
from ui.documents.highlight import document_address, link_html
from ui.shared.safe_html import cut_html, escape, lang, spans_html
from ui.text import words
from ui.text.reader_language import language, number

_WORD = re.compile(r"[^\W\d_]+")
_SHARED_WORDS = """
a all am an any as at do even had has he her i in is me no of on or over so was we will
"""
_SHARED = frozenset(_SHARED_WORDS.split())
"""English words that are also common in other languages, such as German, French, or Spanish."""
_MIN_SHARE = 1 / 6
"""The minimum share of words of an English text that are common in English alone."""


def language_note(text: str, *, is_translated: bool = False) -> str:
    """Such as `in Korean`, or `translated from Korean`; "" if neither applies.

    The language is guessed from the script, and from common words for English.
    """
    if is_in(text, language()) and not is_translated:
        return ""
    name = words.QUOTE_LANGUAGES.get(_language_of(text), words.QUOTE_LANGUAGES["other"])
    template = words.PATTERN_TRANSLATED if is_translated else words.PATTERN_ORIGINAL
    return str(template.format(language=name))


def _language_of(text: str) -> str:
    """A key of `QUOTE_LANGUAGES`."""
    script = script_of(text)
    return "english" if script == "latin" and _is_english(text) else script


def _is_english(text: str) -> bool:
    """Whether the text has at least two common English words, and enough that are only English."""
    found = _WORD.findall(text.casefold())
    common = [word for word in found if word in ENGLISH]
    only_english = [word for word in common if word not in _SHARED]
    return len(set(common)) > 1 and len(only_english) >= _MIN_SHARE * len(found)


CLOSE, PARTIAL = 2 / 3, 1 / 3
"""The minimum values, from 0 to 1, of parts that fit closely, and of those that fit partly."""


def request_names(
    requests: Sequence[str], query: CatalogQuery, description: CatalogDescription
) -> str:
    """The requests in words, such as `Italian restaurant, Ambience`."""
    texts = TEXTS[language()]
    types = texts.either.join(
        type_name(description, one) for one in query.filters.desired_types or ()
    )
    names = [types if one == TYPE else aspect_name(description, one) for one in requests]
    return texts.comma.join(names)


def match_html(place: Place, query: CatalogQuery, description: CatalogDescription) -> str:
    """A mark that says whether the place meets all requests, or which ones it does not meet."""
    unmet = unmet_requests(place, query)
    if not unmet:
        return f'<p class="fn-match fn-match-all">✓ {escape(words.MATCHES_ALL)}</p>'
    missing = words.MATCHES_BUT.format(missing=request_names(unmet, query, description))
    return f'<p class="fn-match fn-match-part">≠ {escape(missing)}</p>'


def reasons_html(
    hit: PlaceHit, weights: Mapping[str, float], description: CatalogDescription
) -> str:
    """A list with a sentence for each part of the score; `weights` are 0 to 1 by aspect."""
    sentences = [
        sentence for part in hit.parts for sentence in _sentences(part, hit, weights, description)
    ]
    items = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
    label = escape(words.WHY_PLACE)
    return f'<ul class="fn-reasons" aria-label="{label}">{items}</ul>' if items else ""


def _sentences(
    part: PlacePart, hit: PlaceHit, weights: Mapping[str, float], description: CatalogDescription
) -> Iterator[str]:
    match part.name:
        case "aspects":
            important = (
                name for name in description.aspect_names if weights.get(name, 0) > NEUTRAL
            )
            yield from (_opinion(name, hit.place, description) for name in important)
        case "type":
            yield words.REASON_TYPE if part.value else words.REASON_OTHER_TYPE
        case "confidence":
            yield _rating(hit.place, description)
        case _:
            yield _closeness(
                words.REASON_FIT.get(part.name, words.REASON_FIT["hybrid"]), part.value
            )


def _opinion(aspect: str, place: Place, description: CatalogDescription) -> str:
    """What the reviews say about an aspect that matters to the person."""
    praise, criticism = place.aspects.get(aspect, (0, 0))
    name = aspect_name(description, aspect)
    opinions = praise + criticism
    if not opinions:
        return str(words.REASON_UNKNOWN.format(aspect=name))
    if praise > criticism:
        return words.count(words.REASON_PRAISE, opinions, aspect=name, praise=number(praise))
    if praise == criticism:
        return str(words.REASON_DIVIDED.format(aspect=name))
    return words.count(words.REASON_BLAME, opinions, aspect=name, blame=number(criticism))


def _rating(place: Place, description: CatalogDescription) -> str:
    if place.rating is None:
        return str(words.REASON_UNRATED)
    rating, scale = number(round(place.rating, 1)), number(description.rating_scale)
    forms = words.REASON_FEW_RATINGS if place.reviews < PRIOR_WEIGHT else words.REASON_RATING
    return words.count(forms, place.reviews, rating=rating, scale=scale)


def _closeness(sentences: Sequence[str], value: float) -> str:
    close, partial, distant = sentences
    return close if value >= CLOSE else partial if value >= PARTIAL else distant


SHOWN_PATTERNS = 3


@dataclass(frozen=True, slots=True)
class CardView:
    """The context of the cards.

    `weights` are those of the aspects for the person, from 0 to 1.
    """

    description: CatalogDescription
    query: CatalogQuery
    weights: Mapping[str, float]


def patterns_html(hit: PlaceHit, view: CardView) -> str:
    """The first patterns with one quote each; all patterns and quotes are collapsed below."""
    patterns = hit.patterns
    if not patterns:
        return ""
    html = _list([_pattern(hit, one, view, 1) for one in patterns[:SHOWN_PATTERNS]])
    if len(patterns) <= SHOWN_PATTERNS and all(len(one.quotes) <= 1 for one in patterns):
        return html
    all_patterns = _list([_pattern(hit, one, view, None) for one in patterns])
    summary = f"<summary>{escape(words.PATTERNS)}</summary>"
    return f'{html}<details class="fn-found">{summary}{all_patterns}</details>'


def _list(items: Sequence[str]) -> str:
    return f'<ul class="fn-patterns">{"".join(items)}</ul>'


def _pattern(hit: PlaceHit, pattern: Pattern, view: CardView, max_quotes: int | None) -> str:
    verdict = words.PATTERN_PRAISE if pattern.praises else words.PATTERN_BLAME
    count = words.PATTERN_COUNT.format(count=pattern.count, reviews=pattern.reviews)
    kind, sign = ("praise", "＋") if pattern.praises else ("blame", "－")
    aspect = escape(aspect_name(view.description, pattern.aspect))
    quotes = "".join(_quote(hit, one) for one in pattern.quotes[:max_quotes])
    return (
        f'<li><span class="fn-{kind}">{sign} <b>{aspect}</b>'
        f" {escape(verdict)}</span> {escape(count)} {_group(pattern, view)}{quotes}</li>"
    )


def _group(pattern: Pattern, view: CardView) -> str:
    if not pattern.group:
        return ""
    name = group_name(view.description, pattern.group)
    text = words.PATTERN_GROUP.format(group=name)
    return f'<span class="fn-group"{lang(name)}>{escape(text)}</span>'


def _quote(hit: PlaceHit, quote: Quote) -> str:
    """The reviewer's words, or their translation if there is one."""
    address = document_address(hit.place.document_id, quote.start, quote.end)
    shown = quote.translation or quote.text
    text = link_html(address, f"“{escape(shown)}”", label=_label(quote))
    note = language_note(quote.text, is_translated=bool(quote.translation))
    return f"<q{lang(shown)}>{text}</q>{_small(note)}"


def _small(note: str) -> str:
    return f" <small>{escape(note)}</small>" if note else ""


def _label(quote: Quote) -> str:
    """The label that screen readers use for the link, with the original quote."""
    return f"{words.PATTERN_OPEN}: {quote.text}"


def score_html(hit: PlaceHit) -> str:
    """A stacked bar of the parts' shares, and a legend with the name and share of each part.

    The full width is the maximum score of these parts, which makes bars comparable.
    """
    maximum = sum(part.weight for part in hit.parts)
    segments = "".join(_segment(part, maximum) for part in hit.parts)
    parts = ", ".join(f"{_name(part)} {part.share:.2f}" for part in hit.parts)
    label = words.PLACE_BAR.format(score=f"{hit.score:.2f}", parts=parts)
    legend = "".join(map(_legend, hit.parts))
    total = words.PLACE_SCORE.format(score=f"{hit.score:.2f}")
    return (
        f'<div class="fn-score"><div class="fn-stack" role="img" aria-label="{escape(label)}">'
        f"{segments}</div><ul>{legend}<li><b>{escape(total)}</b></li></ul></div>"
    )


def parts_html(parts: Sequence[PlacePart]) -> str:
    """A table of the parts with value, weight, share, and description."""
    heads = (words.PART, words.PART_VALUE, words.PART_WEIGHT, words.SHARE)
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    rows = "".join(map(_row, parts))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _segment(part: PlacePart, maximum: float) -> str:
    percent = min(max(100 * part.share / maximum, 0), 100) if maximum > 0 else 0
    return f'<span class="{_kind(part)}" style="width:{percent:.1f}%"></span>'


def _legend(part: PlacePart) -> str:
    return f'<li><i class="{_kind(part)}"></i>{escape(_name(part))} <b>{part.share:.2f}</b></li>'


def _row(part: PlacePart) -> str:
    note = words.PART_NOTES.get(part.name, "")
    return (
        f"<tr><td>{escape(_name(part))}<small>{escape(note)}</small></td>"
        f"<td>{part.value:.2f}</td><td>{part.weight:g}</td><td>{part.share:.2f}</td></tr>"
    )


def _kind(part: PlacePart) -> str:
    return escape(f"fn-part fn-part-{part.name.replace('_', '-')}")


def _name(part: PlacePart) -> str:
    return str(words.PARTS.get(part.name, part.name))


SHOWN = 8
PASSAGE_CHARACTERS = 240
HEADING, LIST_ITEM = re.compile(r"^#{1,6} .*$", re.MULTILINE), re.compile(r"^- ", re.MULTILINE)


def cards_html(hits: Sequence[PlaceHit], view: CardView) -> str:
    """A card with its rank for each place, in groups by what the places match.

    The cards after the first `SHOWN` are collapsed, in each group.
    """
    if not is_recognized(view.query):
        title = f'<h2 class="fn-unseen">{escape(words.PLACES_PAGE)}</h2>'
        return title + _cards_html(list(enumerate(hits, start=1)), view, SHOWN)
    return "".join(_groups(match_groups(hits, view.query), view))


def _groups(groups: Sequence[MatchGroup], view: CardView) -> Iterator[str]:
    shown = SHOWN
    for group in groups:
        heading = escape(_heading(group, view))
        yield f'<h2 class="fn-matches">{heading}</h2>{_cards_html(group.hits, view, shown)}'
        shown = max(shown - len(group.hits), 0)


def _heading(group: MatchGroup, view: CardView) -> str:
    n = len(group.hits)
    if group.is_mixed:
        return words.count(words.MATCH_PART, n)
    if not group.unmet:
        return words.count(words.MATCH_ALL, n)
    missing = request_names(group.unmet, view.query, view.description)
    return words.count(words.MATCH_BUT, n, missing=missing)


def _cards_html(ranked: Sequence[tuple[int, PlaceHit]], view: CardView, shown: int) -> str:
    cards = [_card(n, hit, view) for n, hit in ranked]
    html = _grid(cards[:shown]) if shown else ""
    if more := cards[shown:]:
        forms = words.PLACE_MORE if shown else words.PLACES_FOUND
        summary = escape(words.count(forms, len(more)))
        html += f'<details class="fn-more"><summary>{summary}</summary>{_grid(more)}</details>'
    return html


def _grid(cards: Sequence[str]) -> str:
    return f'<div class="fn-places"><div>{"".join(cards)}</div></div>'


def _card(n: int, hit: PlaceHit, view: CardView) -> str:
    header = f'<header><span class="fn-n">{n}</span>{_title(hit)}</header>'
    description, query = view.description, view.query
    match = match_html(hit.place, query, description) if is_recognized(query) else ""
    return (
        f'<article class="fn-found-place">{header}'
        f'<div class="fn-where">{_facts(hit, description)}</div>'
        f"{match}{_tags(hit.tags, description)}"
        f"{reasons_html(hit, view.weights, description)}"
        f"{patterns_html(hit, view)}{_why(hit)}</article>"
    )


def _tags(tags: Sequence[str], description: CatalogDescription) -> str:
    names = [aspect_name(description, tag) for tag in tags]
    items = "".join(f"<li>{escape(name)}</li>" for name in names)
    return f'<ul class="fn-tags" aria-label="{escape(words.TAGS)}">{items}</ul>' if items else ""


def _title(hit: PlaceHit) -> str:
    title = hit.place.title
    label = words.PLACE_OPEN.format(title=title)
    address = document_address(hit.place.document_id)
    text = f"<span{lang(title)}>{escape(title)}</span>"
    link = link_html(address, text, kind="fn-title", label=label)
    return f'<h3 aria-label="{escape(title)}">{link}</h3>'


def _facts(hit: PlaceHit, description: CatalogDescription) -> str:
    place = hit.place
    types = TEXTS[language()].comma.join(type_name(description, one) for one in place.types)
    fields = [field_name(description, name, value) for name, value in place.fields.items()]
    return spans_html([types, *fields, rating_text(hit, description)])


def rating_text(hit: PlaceHit, description: CatalogDescription) -> str:
    """The rating with its number of ratings, such as `★ 4.5 of 5 (32 ratings)`."""
    place = hit.place
    if place.rating is None:
        return str(words.PLACE_UNRATED)
    scale = number(description.rating_scale)
    rating = words.PLACE_RATING.format(rating=number(round(place.rating, 1)), scale=scale)
    return f"★ {rating} ({words.count(words.PLACE_RATINGS, place.reviews)})"


def _why(hit: PlaceHit) -> str:
    passages = "".join(_passage(hit, one) for one in hit.passages)
    heading = escape(words.FOUND_IN if passages else words.NO_PASSAGE)
    return (
        f'<details class="fn-found fn-why"><summary>{escape(words.SCORE_DETAILS)}</summary>'
        f"{score_html(hit)}{parts_html(hit.parts)}<p>{heading}</p>{passages}</details>"
    )


def _passage(hit: PlaceHit, passage: PlacePassage) -> str:
    address = document_address(hit.place.document_id, passage.start, passage.end)
    text = _plain(passage.text)
    link = link_html(address, "↗", label=words.OPEN_AT_PASSAGE.format(title=hit.place.title))
    note = _small(language_note(text))
    quote = cut_html(text, PASSAGE_CHARACTERS)
    return f"<blockquote{lang(text)}>{quote} {link}{note}</blockquote>"


def _plain(text: str) -> str:
    """The passage on one line, without headings; list items are separated by dots."""
    lines = (LIST_ITEM.sub("", line).strip() for line in HEADING.sub("", text).splitlines())
    separator = " · " if LIST_ITEM.search(text) else " "
    return separator.join(line for line in lines if line)
