"""Explains in words how well a place fits a question, from the parts of its score."""

from collections.abc import Iterator, Mapping, Sequence

from domain import CatalogDescription, CatalogQuery, Place, PlaceHit, PlacePart
from services.catalog.answer_texts import TEXTS
from services.catalog.place_match import TYPE, unmet_requests
from services.catalog.place_scores import PRIOR_WEIGHT
from services.catalog.preferences import NEUTRAL
from ui.catalog.catalog_words import aspect_name, type_name
from ui.shared.safe_html import escape
from ui.text import words
from ui.text.reader_language import language, number

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
