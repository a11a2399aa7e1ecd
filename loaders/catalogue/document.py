"""A place of a catalogue as a document in Markdown."""

from typing import TYPE_CHECKING, Any

from domain import Pattern, Review
from loaders.catalogue.data import Data
from loaders.catalogue.facts import PlaceFacts, fact_lines, facts_of
from loaders.catalogue.markdown import PlaceText, place_text
from loaders.catalogue.reviews import Reviews, read_reviews
from loaders.catalogue.rows import Row

if TYPE_CHECKING:  # slow, and a listing needs none of it
    from langchain_core.documents import Document

FORMAT = "place"


def document_of(data: Data, key: str, row: Row) -> "Document":
    """The place of a row as a document.

    Raises:
        UnreadableError: A value is wrong; the message names file, line and column.
    """
    from langchain_core.documents import Document

    description, rows = data.description, data.reviews.of.get(key, ())
    facts, reviews = facts_of(row, description), read_reviews(row, rows, description)
    rating = _rating(facts, reviews)
    written = place_text(
        facts.title,
        [told for column in description.text if (told := row.paragraphs(column))],
        fact_lines(facts, description, rating),
        reviews.given,
        description.rating_scale,
    )
    metadata = {
        "key": key,
        "version": data.version(key, row),
        "location": str(data.path),
        "title": facts.title,
        "format": FORMAT,
        "warnings": list(reviews.warnings),
        "place": _place(key, facts, rating, reviews) | _said(data, written, reviews),
    }
    return Document(written.text, metadata=metadata)


def _rating(facts: PlaceFacts, reviews: Reviews) -> float | None:
    """The place's own rating, else the mean of its reviews'."""
    if facts.rating is not None or not reviews.ratings:
        return facts.rating
    return sum(reviews.ratings) / len(reviews.ratings)


def _ratings(facts: PlaceFacts, reviews: Reviews) -> int:
    """How many the rating rests on: as the data says, those of the mean, else all reviews."""
    if facts.ratings is not None:
        return facts.ratings
    is_mean = facts.rating is None and reviews.ratings
    return len(reviews.ratings) if is_mean else reviews.number


def _said(data: Data, written: PlaceText, reviews: Reviews) -> dict[str, Any]:
    """The reviews of a place, and what they say of it, as JSON holds it."""
    given = [
        Review(start, end, review.group, review.rating, review.date, review.id)
        for (start, end), review in zip(written.spans, reviews.given, strict=True)
    ]
    judged = data.judge(written.text, given)
    return {
        "reviews": [list(review) for review in given],
        "aspects": {name: list(counts) for name, counts in judged.aspects.items()},
        "patterns": [_pattern(pattern) for pattern in judged.patterns],
    }


def _pattern(told: Pattern) -> list[Any]:
    """A pattern without its rank, which is its place among all."""
    quotes = [[quote.text, quote.start, quote.end] for quote in told.quotes]
    return [told.aspect, told.group, told.praises, told.count, told.reviews, quotes]


def _place(
    key: str,
    facts: PlaceFacts,
    rating: float | None,
    reviews: Reviews,
) -> dict[str, Any]:
    """What is kept of a place beside its text and reviews, as JSON holds it."""
    return {
        "place_id": key,
        "types": list(facts.types),
        "fields": facts.fields,
        "facts": facts.facts,
        "rating": rating,
        "ratings": _ratings(facts, reviews),
        "latitude": facts.latitude,
        "longitude": facts.longitude,
    }
