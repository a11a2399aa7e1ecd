"""Search results with documents as an import writes them, for tests of answers and patterns."""

import re
from datetime import UTC, datetime
from typing import NamedTuple

from domain import (
    CatalogDescription,
    CatalogFilters,
    CatalogQuery,
    FilterField,
    NamedValue,
    Place,
    PlaceHit,
    PlacePassage,
    Review,
    ReviewColumns,
)
from loaders.catalog.catalog_data import ReviewText
from loaders.catalog.catalog_places import PlaceFacts, fact_lines, place_text
from loaders.split import split
from services.catalog.answer_material import Material, numbered_passages
from services.catalog.review_patterns import find_patterns
from storage.ledger.document_store import StoredDocument

DESCRIPTION = CatalogDescription(
    name="Restaurants",
    places="places.jsonl",
    id="id",
    title="name",
    types_column="types",
    types=(
        NamedValue(
            "italian_restaurant", {"en": ("italian",), "ko": ("이탈리안",), "ja": ("イタリアン",)}
        ),
    ),
    filters=(
        FilterField(
            "borough_en",
            "borough",
            (NamedValue("Brooklyn", {"ko": ("브루클린",), "ja": ("ブルックリン",)}),),
        ),
    ),
    rating="rating",
    reviews=ReviewColumns("text", column="reviews"),
    groups=(
        ("korean", {"en": "Korean review", "ko": "한국인 리뷰", "ja": "韓国人のレビュー"}),
        ("local", {"en": "local review", "ko": "현지인 리뷰", "ja": "地元の人のレビュー"}),
    ),
)
FACTS = tuple(
    fact_lines(
        PlaceFacts(
            "Trattoria Lucia",
            types=("italian_restaurant",),
            fields={"borough_en": "Brooklyn"},
            facts={"address": "3 Main Street"},
            rating=4.6,
            ratings=None,
            latitude=None,
            longitude=None,
        ),
        DESCRIPTION,
        4.6,
    )
)
REVIEWS = (
    ("korean", "파스타가 정말 맛있어요. 또 갈게요."),
    ("korean", "음식이 다 맛있습니다."),
    ("local", "Very rude people work here."),
    ("local", "They were rude to all of us."),
)


class Mention(NamedTuple):
    aspect: str
    start: int
    end: int
    praises: bool | None


class FewWords:
    """A small lexicon, so that tests show every word that matters."""

    KNOWN = (
        ("food", r"tasty|맛있", True),
        ("food", r"bland", False),
        ("food", r"pasta", None),
        ("service", r"kind|친절", True),
        ("service", r"rude", False),
        ("decor", r"pretty", True),
    )

    def mentions(self, text):
        return sorted(
            (
                Mention(aspect, match.start(), match.end(), praises)
                for aspect, words, praises in self.KNOWN
                for match in re.finditer(words, text, re.IGNORECASE)
            ),
            key=lambda mention: mention.start,
        )


class Catalog:
    """Search results, and the material for an answer about them."""

    def __init__(self):
        self.places = []
        self.texts = {}
        self.passages = []

    def add(self, title="Trattoria Lucia", *, reviews=REVIEWS, facts=FACTS, text=(), types=None):
        """Add a place; its document is written and split as in an import."""
        id_ = f"d{len(self.places) + 1}"
        review_texts = [ReviewText(words, group, 5.0, "2025-01-02") for group, words in reviews]
        document_text = place_text(title, text, facts, review_texts, 5.0)
        spans = [
            Review(start, end, group)
            for (start, end), (group, _) in zip(document_text.spans, reviews, strict=True)
        ]
        values = dict(facts)
        place = Place(
            id_,
            "c1",
            id_,
            title,
            types=(values["types"],) if "types" in values else (),
            fields={"borough_en": values["borough"]} if "borough" in values else {},
            rating=4.6 if "rating" in values else None,
        )
        changed_at = datetime(2025, 1, 2, tzinfo=UTC)
        document = StoredDocument(
            id_, "c1", id_, "v7", 1, title, f"{id_}.html", "place", None, (), (), {}, changed_at, 1
        )
        passages = split(document_text.text, document_id=id_, version="v7")
        self.texts[id_] = document_text.text
        self.passages += [(document, passage) for passage in passages]
        patterns = find_patterns(document_text.text, spans, FewWords().mentions)
        first = passages[0]
        first_passage = PlacePassage(first.id, first.start, first.end, first.text)
        self.places.append(PlaceHit(place, 1.0, (), (first_passage,), patterns))
        return self

    def material(self, language="en", weights=None, description=DESCRIPTION, **filters):
        """The material for an answer about all places."""
        weights = weights or {}
        query = CatalogQuery("Where to eat?", "where to eat", CatalogFilters(**filters))
        passages = numbered_passages(self.places, self.passages, weights)
        return Material(query, weights, tuple(self.places), passages, description, language)
