import threading
from dataclasses import dataclass, field, replace
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.cross_encoders import BaseCrossEncoder
from langchain_core.documents import Document

from domain import (
    NEVER_IMPORTED,
    CatalogFilters,
    CatalogQuery,
    DocumentRef,
    Place,
    PlaceHit,
    PlacePart,
)
from domain.errors import ModelError
from retrievers.rerank import Reranking
from services.catalog.place_scores import PartWeights
from services.catalog.place_search import EngineOptions, PlacesRanked, SearchEngine
from services.search import searchable_library
from services.search.ranking import OpenIndex
from storage.ledger.place_store import Places
from tests.fakes.library import Library, version_of

ITALIAN, PIZZA, RAMEN = "italian_restaurant", "pizza_restaurant", "ramen_restaurant"
PLACES = {
    "trattoria": ("A quiet trattoria with handmade pasta.", [ITALIAN], "Queens", 4.5, 40),
    "pizzeria": ("Loud pizzeria, pasta and pizza by the slice.", [PIZZA], "Queens", 3.5, 200),
    "osteria": ("Pasta and wine in a quiet garden.", [ITALIAN, "bar"], "Bronx", 4.0, 2),
    "ramen": ("Ramen in a narrow room, always a queue.", [RAMEN], "Bronx", None, 0),
}

JUDGMENTS = {
    "trattoria": {"service": [0, 9]},
    "pizzeria": {"service": [9, 0], "price": [1, 8]},
    "osteria": {"price": [9, 1]},
}
SERVICE_WISHES = {"service": 0.9, "price": 0.1}
PRICE_WISHES = {"service": 0.1, "price": 0.9}


@dataclass
class Loader:
    """Maps ids to text, types, borough, rating, and count of ratings, and to review judgments."""

    reads_without_listing: ClassVar[bool] = False

    places: dict = field(default_factory=lambda: dict(PLACES))
    aspects: dict = field(default_factory=dict)

    def list(self, before=NEVER_IMPORTED):
        for key, content in sorted(self.places.items()):
            yield DocumentRef(key, version_of(f"{content} {self.aspects}"), "/places")

    def read(self, ref):
        text, types, borough, rating, ratings = self.places[ref.key]
        place = {
            "place_id": ref.key,
            "types": types,
            "fields": {"borough_en": borough},
            "facts": {},
            "rating": rating,
            "ratings": ratings,
            "latitude": None,
            "longitude": None,
            "aspects": self.aspects.get(ref.key, {}),
        }
        metadata = {
            "title": ref.key.title(),
            "format": "place",
            "encoding": "utf-8",
            "place": place,
        }
        return Document(page_content=text, metadata=metadata)


@dataclass
class Indexes:
    """Opens the index of a library like the application does."""

    library: Library
    known_scripts: frozenset | None = None

    search_active = searchable_library.Library.search_active
    _replacement_of = searchable_library.Library._replacement_of

    def open_index(self):
        if self.library.indexes.active() is None:
            return None
        store = self.library.active
        return OpenIndex(store.passages, store.words(), self.known_scripts)


class WordCounter(BaseCrossEncoder):
    """Scores by the number of shared words and records the pairs."""

    def __init__(self):
        self.pairs = []

    def score(self, text_pairs):
        self.pairs += text_pairs
        return [len(set(a.lower().split()) & set(b.lower().split())) for a, b in text_pairs]


class FailingCrossEncoder(BaseCrossEncoder):
    def score(self, text_pairs):
        raise ModelError("The reranker broke off.")


class SlowCrossEncoder(BaseCrossEncoder):
    def __init__(self):
        self.free = threading.Event()

    def score(self, text_pairs):
        self.free.wait()
        return [0.0] * len(text_pairs)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    library = Library(tmp_path_factory.mktemp("catalog"))
    library.load(Loader())
    return library


@pytest.fixture(scope="module")
def judged_library(tmp_path_factory):
    """A library of the same places, with judgments of reviews."""
    library = Library(tmp_path_factory.mktemp("judged"))
    library.load(Loader(aspects=JUDGMENTS))
    return library


@pytest.fixture
def empty_library(tmp_path):
    return Library(tmp_path)


def engine(library, cross_encoder=None, *, known_scripts=None, budget_s=60, **options):
    reranking = cross_encoder and Reranking(cross_encoder, 50, budget_s)
    return SearchEngine(
        Indexes(library, known_scripts),
        library.documents,
        Places(library.database),
        EngineOptions(**options),
        reranking,
    )


def make_query(
    question="quiet pasta", *, query_en=None, types=None, rating=None, declined=(), **fields
):
    filters = CatalogFilters(fields, types, rating, declined)
    return CatalogQuery(question, question if query_en is None else query_en, filters)


def search(library, query=None, cross_encoder=None, *, preferring=None, **options):
    search_engine = engine(library, cross_encoder, **options)
    return search_engine.search(library.source.id, 5.0, query or make_query(), preferring)


def ids(result):
    return [hit.place.place_id for hit in result.places]


def parts(hit):
    return {part.name: part.value for part in hit.parts}


def hit_of(result, place_id):
    return next(hit for hit in result.places if hit.place.place_id == place_id)


def test_the_best_place_by_keywords_and_vectors_comes_first(library):
    result = search(library)
    assert set(ids(result)) == set(PLACES)
    assert ids(result)[0] in ("trattoria", "osteria")
    assert parts(result.places[0])["hybrid"] == 1.0


def test_a_score_is_the_sum_of_the_shares_of_its_parts(library):
    result = search(library, make_query(types=("italian_restaurant",)), WordCounter())
    for hit in result.places:
        assert [part.name for part in hit.parts] == [
            "hybrid",
            "confidence",
            "type",
            "cross_encoder",
        ]
        assert hit.score == pytest.approx(sum(part.share for part in hit.parts))
        assert all(0 <= part.value <= 1 for part in hit.parts)
    scores = [hit.score for hit in result.places]
    assert scores == sorted(scores, reverse=True)
    assert result.notices == ()


def test_the_weights_of_the_parts_are_those_of_the_options(library):
    weights = PartWeights(2.0, 0.0, 7.0, 1.0, 1.0)
    result = search(library, make_query(types=("bar",)), WordCounter(), weights=weights)
    assert ids(result)[0] == "osteria"
    part_weights = {part.name: part.weight for part in result.places[0].parts}
    assert part_weights == {"hybrid": 2.0, "type": 7.0, "cross_encoder": 1.0}


def test_desired_types_change_scores_without_excluding_places(library):
    result = search(library, make_query(types=("ramen_restaurant", "cafe")))
    assert set(ids(result)) == set(PLACES)
    assert {hit.place.place_id: parts(hit)["type"] for hit in result.places} == {
        "ramen": 1.0,
        "trattoria": 0.0,
        "pizzeria": 0.0,
        "osteria": 0.0,
    }
    assert all("type" not in parts(hit) for hit in search(library).places)


def test_confidence_weighs_the_rating_with_the_number_of_ratings(library):
    confidences = {hit.place.place_id: parts(hit)["confidence"] for hit in search(library).places}
    mean = (4.5 + 3.5 + 4.0) / 3
    assert confidences["trattoria"] == pytest.approx((40 * 4.5 + 10 * mean) / 50 / 5)
    assert confidences["ramen"] == pytest.approx(mean / 5)
    assert (
        confidences["trattoria"]
        > confidences["osteria"]
        >= confidences["ramen"]
        > confidences["pizzeria"]
    )


def test_a_catalog_without_ratings_has_no_confidence(empty_library):
    empty_library.load(Loader({key: (*content[:3], None, 0) for key, content in PLACES.items()}))
    result = search(empty_library)
    assert len(result.places) == len(PLACES)
    assert all("confidence" not in parts(hit) for hit in result.places)


def test_filters_leave_only_matching_places(library):
    assert set(ids(search(library, make_query(borough_en="Queens")))) == {"trattoria", "pizzeria"}
    assert set(ids(search(library, make_query(rating=4.0)))) == {"trattoria", "osteria"}
    assert ids(search(library, make_query(borough_en="Bronx", rating=1.0))) == ["osteria"]


def test_places_of_a_declined_type_are_excluded(library):
    assert set(ids(search(library, make_query("no pizza", declined=(PIZZA,))))) == set(PLACES) - {
        "pizzeria"
    }
    assert ids(search(library, make_query(declined=(ITALIAN, PIZZA)))) == ["ramen"]
    assert ids(search(library, make_query(declined=(ITALIAN,), borough_en="Queens"))) == [
        "pizzeria"
    ]


def test_a_place_of_a_declined_and_a_desired_type_is_included(library):
    place_ids = ids(search(library, make_query(types=("bar",), declined=(ITALIAN,))))
    assert set(place_ids) == {"osteria", "pizzeria", "ramen"}


def test_the_notice_names_a_declined_type_that_excludes_everything(library):
    notices = search(
        library, make_query(borough_en="Queens", rating=4.0, declined=(ITALIAN,))
    ).notices
    assert "borough_en 'Queens', rating ≥ 4, type ≠ 'italian_restaurant': remove one" in notices[0]


def test_the_notice_names_a_filter_that_excludes_everything(library):
    for query, message in (
        (make_query(borough_en="Brooklyn"), "matches the filter borough_en 'Brooklyn': remove"),
        (make_query(rating=4.9), "matches the filter rating ≥ 4.9: remove"),
        (make_query(borough_en="Bronx", rating=4.9), "matches the filter rating ≥ 4.9: remove"),
        (
            make_query(borough_en="Brooklyn", rating=4.9),
            "matches any of borough_en 'Brooklyn', rating ≥ 4.9: remove all of them",
        ),
        (
            make_query(borough_en="Bronx", rating=4.5),
            "all of borough_en 'Bronx', rating ≥ 4.5: remove one",
        ),
        (
            make_query(borough_en=("Brooklyn", "Harlem"), rating=4.5),
            "matches the filter borough_en 'Brooklyn' / 'Harlem': remove",
        ),
    ):
        result = search(library, query, FailingCrossEncoder())
        assert result.places == ()
        (notice,) = result.notices
        assert message in notice


def test_another_catalog_is_not_searched(library):
    result = engine(library).search("another", 5.0, make_query())
    assert result.places == ()


def test_an_empty_index_has_no_places(empty_library):
    assert search(empty_library, cross_encoder=FailingCrossEncoder()) == PlacesRanked(())
    empty_library.load(Loader({}))
    assert search(empty_library, cross_encoder=FailingCrossEncoder()) == PlacesRanked(())


def test_the_cross_encoder_reads_the_english_question_the_wishes_and_each_place(library):
    counter = WordCounter()
    query = make_query("조용한 파스타", query_en="quiet pasta")
    result = search(library, query, counter, preferring={"waiting": 0.6, "food": 0.5})
    questions, texts = zip(*counter.pairs, strict=True)
    assert set(questions) == {"quiet pasta [PREF] important: short waiting time"}
    assert len(texts) == len(PLACES)
    assert "Trattoria\nA quiet trattoria with handmade pasta." in texts
    values = {hit.place.place_id: parts(hit)["cross_encoder"] for hit in result.places}
    assert (max(values.values()), min(values.values())) == (1.0, 0.0)


def test_without_wishes_the_cross_encoder_reads_only_the_question(library):
    counter = WordCounter()
    search(library, cross_encoder=counter)
    assert {question for question, _ in counter.pairs} == {"quiet pasta"}


def test_the_cross_encoder_reads_about_a_thousand_characters_of_a_place(empty_library):
    empty_library.load(Loader({"long": ("Quiet pasta. " * 500, [], "Queens", None, 0)}))
    counter = WordCounter()
    search(empty_library, cross_encoder=counter)
    ((_, text),) = counter.pairs
    assert 500 < len(text) <= len("Long\n") + 1000


def test_a_missing_cross_encoder_is_skipped_with_a_notice(library):
    result = search(library)
    assert all("cross_encoder" not in parts(hit) for hit in result.places)
    (notice,) = result.notices
    assert "FOOTNOTE_RERANK_PROVIDER" in notice


def test_a_failing_cross_encoder_is_skipped_with_a_notice(library):
    result = search(library, cross_encoder=FailingCrossEncoder())
    assert ids(result) == ids(search(library))
    assert result.notices == (
        "The places are ranked without the cross-encoder: The reranker broke off.",
    )


def test_a_slow_cross_encoder_is_skipped_with_a_notice(library):
    slow = SlowCrossEncoder()
    result = search(library, cross_encoder=slow, budget_s=0.05)
    slow.free.set()
    assert ids(result) == ids(search(library))
    assert "took longer than 0.05 s" in result.notices[0]


def test_a_cross_encoder_without_weight_is_not_called(library):
    weights = PartWeights(cross_encoder=0.0)
    assert search(library, cross_encoder=FailingCrossEncoder(), weights=weights).notices == ()


def test_without_a_cross_encoder_praise_reorders_the_places(judged_library):
    aspects_only = PartWeights(hybrid=0.0, confidence=0.0)
    by_service, by_price = (
        search(judged_library, preferring=wishes, weights=aspects_only)
        for wishes in (SERVICE_WISHES, PRICE_WISHES)
    )
    assert ids(by_service)[0] == "pizzeria"
    assert ids(by_service)[-1] == "trattoria"
    assert (ids(by_price)[0], ids(by_price)[-1]) == ("osteria", "pizzeria")
    for result in (by_service, by_price):
        values = [parts(hit)["aspects"] for hit in result.places]
        assert (values[0], values[-1]) == (1.0, 0.0)


def test_a_place_without_judgments_scores_like_the_whole_catalog(judged_library):
    values = {
        hit.place.place_id: parts(hit)["aspects"]
        for hit in search_with_wishes(judged_library).places
    }
    service, price = 9 / 18, 10 / 19
    raw = {
        "ramen": 0.9 * service + 0.1 * price,
        "trattoria": 0.9 * (3 * service) / 12 + 0.1 * price,
        "pizzeria": 0.9 * (9 + 3 * service) / 12 + 0.1 * (1 + 3 * price) / 12,
    }
    span = raw["pizzeria"] - raw["trattoria"]
    assert values["ramen"] == pytest.approx((raw["ramen"] - raw["trattoria"]) / span)


def search_with_wishes(library, cross_encoder=None, **options):
    return search(library, cross_encoder=cross_encoder, preferring=SERVICE_WISHES, **options)


def test_the_notice_names_the_replacement_of_the_cross_encoder(judged_library):
    assert search_with_wishes(judged_library).notices == (
        "No reranker is configured, so reviewers' praise is used instead: set"
        " FOOTNOTE_RERANK_PROVIDER to fastembed or http.",
    )
    assert search_with_wishes(judged_library, FailingCrossEncoder()).notices == (
        "Reviewers' praise is used instead of the cross-encoder: The reranker broke off.",
    )
    slow = SlowCrossEncoder()
    timed_out = search_with_wishes(judged_library, slow, budget_s=0.05)
    slow.free.set()
    assert timed_out.notices[0].startswith(
        "Reviewers' praise is used instead of the cross-encoder: "
    )
    for result in (search_with_wishes(judged_library, FailingCrossEncoder()), timed_out):
        assert [hit.parts for hit in result.places] == [
            hit.parts for hit in search_with_wishes(judged_library).places
        ]


def test_with_a_cross_encoder_the_score_is_as_specified(judged_library):
    result = search_with_wishes(judged_library, WordCounter())
    assert result.notices == ()
    assert {name for hit in result.places for name in parts(hit)} == {
        "hybrid",
        "confidence",
        "cross_encoder",
    }


def test_without_a_weight_for_praise_the_score_is_as_specified(judged_library, library):
    result = search_with_wishes(judged_library, weights=PartWeights(aspects=0.0))
    assert [hit.parts for hit in result.places] == [hit.parts for hit in search(library).places]
    assert result.notices == search(library).notices


@pytest.mark.parametrize("wishes", [None, {}, {"service": 0.0, "price": 0.0}])
def test_without_wishes_praise_is_ignored(judged_library, wishes):
    result = search(judged_library, preferring=wishes)
    assert all("aspects" not in parts(hit) for hit in result.places)
    assert "ranked without a cross-encoder" in result.notices[0]


def test_praise_is_ignored_if_no_place_has_judgments(judged_library, library):
    assert all("aspects" not in parts(hit) for hit in search_with_wishes(library).places)
    result = search(
        judged_library, make_query("ramen queue"), preferring=SERVICE_WISHES, candidates=1
    )
    assert ids(result)[0] == "ramen"


def test_praise_replaces_a_cross_encoder_without_weight_and_without_a_notice(judged_library):
    result = search_with_wishes(judged_library, weights=PartWeights(cross_encoder=0.0))
    assert "aspects" in parts(result.places[0])
    assert result.notices == ()


@given(st.floats(0.1, 10))
def test_scaling_all_wishes_changes_nothing(judged_library, times):
    wishes = {name: times * weight for name, weight in SERVICE_WISHES.items()}
    assert ids(search(judged_library, preferring=wishes)) == ids(search_with_wishes(judged_library))


def test_a_question_in_an_unknown_script_is_ranked_by_keywords_alone(library):
    result = search(library, make_query("wine"), known_scripts=frozenset({"korean"}))
    assert ids(result) == ["osteria"]
    assert parts(result.places[0])["hybrid"] == 1.0


def test_words_of_the_original_question_are_searched(empty_library):
    empty_library.load(Loader({**PLACES, "banchan": ("반찬이 맛있다", [], "Queens", None, 0)}))
    query = make_query("반찬이 맛있는 곳", query_en="delicious side dishes")
    assert ids(search(empty_library, query, dense_weight=0.0))[0] == "banchan"


def test_at_most_five_passages_are_returned_best_first(empty_library):
    reviews = [f"Review {n} tells of quiet evenings. {'Nothing else here. ' * 8}" for n in range(9)]
    best = f"Quiet pasta, quiet pasta. {'Nothing else here. ' * 8}"
    text = "\n\n".join([*reviews, best])
    empty_library.load(Loader({"place": (text, [], "Queens", 4.0, 3), **PLACES}))
    hit = hit_of(search(empty_library), "place")
    assert len(hit.passages) == 5
    assert "Quiet pasta" in hit.passages[0].text
    document = empty_library.documents.text(hit.place.document_id)
    for passage in hit.passages:
        assert document[passage.start : passage.end] == passage.text
        assert passage.version


def test_a_place_with_many_reviews_does_not_crowd_out_others(empty_library):
    talkative = "\n\n".join(f"Quiet pasta, quiet pasta, evening {n}. " * 5 for n in range(60))
    empty_library.load(Loader({"talkative": (talkative, [], "Queens", None, 0), **PLACES}))
    result = search(empty_library, candidates=4)
    assert set(ids(result)) >= {"talkative", "trattoria", "osteria"}


def test_the_number_of_places_is_limited(library):
    assert ids(search(library, k=2)) == ids(search(library))[:2]


def test_ties_are_broken_by_confidence_then_title_then_id(empty_library):
    same = "Quiet pasta."
    places = {
        "d": (same, ["bar"], "Queens", 3.0, 9),
        "c": (same, ["bar"], "Queens", 5.0, 9),
        "b": (same, ["bar"], "Queens", None, 0),
        "B": (same, ["bar"], "Queens", None, 0),
    }
    empty_library.load(Loader(places))
    weights = PartWeights(hybrid=0.0, confidence=1e-30)
    result = search(empty_library, make_query(types=("bar",)), weights=weights)
    assert {hit.score for hit in result.places} == {0.5}
    assert ids(result) == ["c", "B", "b", "d"]


def test_uncommitted_passages_are_ignored(empty_library):
    empty_library.load(Loader())
    passages = empty_library.active.passages
    passages.add_texts(
        ["quiet pasta quiet pasta"],
        [{"source_id": empty_library.source.id, "document_id": "unborn"}],
        ids=["not committed"],
    )
    result = search(empty_library)
    assert set(ids(result)) == set(PLACES)
    assert parts(result.places[0])["hybrid"] == 1.0
    passage_ids = {passage.id for hit in result.places for passage in hit.passages}
    assert "not committed" not in passage_ids


def test_a_document_without_a_place_is_ignored(library):
    class PlacesWithoutOsteria(Places):
        def by_documents(self, document_ids):
            places = super().by_documents(document_ids)
            return {id_: place for id_, place in places.items() if place.place_id != "osteria"}

    search_engine = replace(engine(library), places=PlacesWithoutOsteria(library.database))
    assert set(ids(search_engine.search(library.source.id, 5.0, make_query()))) == set(PLACES) - {
        "osteria"
    }


@given(st.permutations(["quiet", "pasta", "garden", "queue"]))
def test_the_order_of_the_words_does_not_matter(library, words):
    result = search(library, make_query(" ".join(words)))
    assert ids(result) == ids(search(library, make_query("garden pasta queue quiet")))


@given(
    st.tuples(*[st.floats(0, 5)] * 4),
    st.sampled_from(["hybrid", "confidence", "type", "cross_encoder"]),
    st.floats(0, 5),
)
def test_the_best_place_of_a_part_never_falls_when_its_weight_rises(
    library, part_weights, name, extra
):
    weights = PartWeights(*part_weights)
    heavier = weights._replace(**{name: getattr(weights, name) + extra})
    query = make_query(types=("bar",))
    best = max(
        search(library, query, WordCounter(), weights=PartWeights(1.0, 1.0, 1.0, 1.0, 1.0)).places,
        key=lambda hit: parts(hit)[name],
    ).place.place_id
    before, after = (
        ids(search(library, query, WordCounter(), weights=variant)).index(best)
        for variant in (weights, heavier)
    )
    assert after <= before


def test_results_are_domain_values(library):
    hit = search(library).places[0]
    assert isinstance(hit, PlaceHit)
    assert isinstance(hit.place, Place)
    assert isinstance(hit.parts[0], PlacePart)
