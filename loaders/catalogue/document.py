"""A place of a catalogue as a document in Markdown."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from loaders.catalogue.data import Data
from loaders.catalogue.facts import PlaceFacts, fact_lines, facts_of
from loaders.catalogue.markdown import place_text
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
    text, spans = place_text(
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
        "place": _place(key, facts, rating, reviews, spans) | _judged(data, text, spans),
    }
    return Document(text, metadata=metadata)


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


def _judged(data: Data, text: str, spans: Sequence[tuple[int, int]]) -> dict[str, Any]:
    counted = data.judged([text[start:end] for start, end in spans])
    return {"aspects": {name: list(counts) for name, counts in counted.items()}}


def _place(
    key: str,
    facts: PlaceFacts,
    rating: float | None,
    reviews: Reviews,
    spans: Sequence[tuple[int, int]],
) -> dict[str, Any]:
    """What is kept of a place beside its text, as JSON holds it."""
    return {
        "place_id": key,
        "types": list(facts.types),
        "fields": facts.fields,
        "facts": facts.facts,
        "rating": rating,
        "ratings": _ratings(facts, reviews),
        "latitude": facts.latitude,
        "longitude": facts.longitude,
        "reviews": [
            [start, end, review.group, review.rating, review.date, review.id]
            for (start, end), review in zip(spans, reviews.given, strict=True)
        ],
    }
