import threading
from dataclasses import dataclass, field, replace

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
from errors import ModelError
from retrievers.rerank import Reranking
from services.catalog.place_scores import PartWeights
from services.catalog.place_search import EngineOptions, SearchEngine
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

JUDGED = {
    "trattoria": {"service": [0, 9]},
    "pizzeria": {"service": [9, 0], "price": [1, 8]},
    "osteria": {"price": [9, 1]},
}
KEEN = {"service": 0.9, "price": 0.1}
THRIFTY = {"service": 0.1, "price": 0.9}


@dataclass
class Loader:
    """Places by id: text, types, borough, rating and how many ratings; what reviews judge."""

    places: dict = field(default_factory=lambda: dict(PLACES))
    aspects: dict = field(default_factory=dict)

    def list(self, before=NEVER_IMPORTED):
        for key, told in sorted(self.places.items()):
            yield DocumentRef(key, version_of(f"{told} {self.aspects}"), "/places")

    def read(self, ref):
        text, types, borough, rating, ratings = self.places[ref.key]
        place = {
            "place_id": ref.key,
            "types": types,
            "fields": {"borough_en": borough},
            "rating": rating,
            "ratings": ratings,
            "aspects": self.aspects.get(ref.key, {}),
        }
        told = {"title": ref.key.title(), "format": "place", "encoding": "utf-8", "place": place}
        return Document(page_content=text, metadata=told)


@dataclass
class Indexes:
    """The index of a library, as the true one opens it."""

    library: Library
    known_scripts: frozenset | None = None

    def open_index(self):
        if self.library.indexes.active() is None:
            return None
        store = self.library.active
        return OpenIndex(store.passages, store.keywords, self.known_scripts)


class Words(BaseCrossEncoder):
    """Counts the words that both share, and keeps what it was asked."""

    def __init__(self):
        self.asked = []

    def score(self, text_pairs):
        self.asked += text_pairs
        return [len(set(a.lower().split()) & set(b.lower().split())) for a, b in text_pairs]


class Failing(BaseCrossEncoder):
    def score(self, text_pairs):
        raise ModelError("The reranker broke off.")


class Slow(BaseCrossEncoder):
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
def judged(tmp_path_factory):
    """The same places, of which the reviews say something."""
    library = Library(tmp_path_factory.mktemp("judged"))
    library.load(Loader(aspects=JUDGED))
    return library


@pytest.fixture
def fresh(tmp_path):
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


def asked(question="quiet pasta", *, query_en=None, types=None, rating=None, declined=(), **fields):
    filters = CatalogFilters(fields, types, rating, declined)
    return CatalogQuery(question, question if query_en is None else query_en, filters)


def search(library, query=None, cross_encoder=None, *, preferring=None, **options):
    found = engine(library, cross_encoder, **options)
    return found.search(library.source.id, 5.0, query or asked(), preferring)


def ids(result):
    return [found.place.place_id for found in result.places]


def parts(found):
    return {part.name: part.value for part in found.parts}


def of(result, place_id):
    return next(found for found in result.places if found.place.place_id == place_id)


def test_the_best_place_by_words_and_vectors_comes_first(library):
    result = search(library)
    assert set(ids(result)) == set(PLACES)
    assert ids(result)[0] in ("trattoria", "osteria")
    assert parts(result.places[0])["hybrid"] == 1.0


def test_a_score_is_the_sum_of_the_shares_of_its_parts(library):
    result = search(library, asked(types=("italian_restaurant",)), Words())
    for found in result.places:
        assert [part.name for part in found.parts] == [
            "hybrid",
            "confidence",
            "type",
            "cross_encoder",
        ]
        assert found.score == pytest.approx(sum(part.share for part in found.parts))
        assert all(0 <= part.value <= 1 for part in found.parts)
    scores = [found.score for found in result.places]
    assert scores == sorted(scores, reverse=True)
    assert result.notices == ()


def test_the_weights_of_the_parts_are_those_of_the_options(library):
    weights = PartWeights(2.0, 0.0, 7.0, 1.0, 1.0)
    result = search(library, asked(types=("bar",)), Words(), weights=weights)
    assert ids(result)[0] == "osteria"
    told = {part.name: part.weight for part in result.places[0].parts}
    assert told == {"hybrid": 2.0, "type": 7.0, "cross_encoder": 1.0}


def test_a_desired_type_excludes_nothing_and_counts_where_one_is_desired(library):
    result = search(library, asked(types=("ramen_restaurant", "cafe")))
    assert set(ids(result)) == set(PLACES)
    assert {one.place.place_id: parts(one)["type"] for one in result.places} == {
        "ramen": 1.0,
        "trattoria": 0.0,
        "pizzeria": 0.0,
        "osteria": 0.0,
    }
    assert all("type" not in parts(found) for found in search(library).places)


def test_confidence_weighs_the_rating_with_the_number_of_ratings(library):
    sure = {one.place.place_id: parts(one)["confidence"] for one in search(library).places}
    mean = (4.5 + 3.5 + 4.0) / 3
    assert sure["trattoria"] == pytest.approx((40 * 4.5 + 10 * mean) / 50 / 5)
    assert sure["ramen"] == pytest.approx(mean / 5)
    assert sure["trattoria"] > sure["osteria"] >= sure["ramen"] > sure["pizzeria"]


def test_a_catalog_without_ratings_has_no_confidence(fresh):
    fresh.load(Loader({key: (*told[:3], None, 0) for key, told in PLACES.items()}))
    result = search(fresh)
    assert len(result.places) == len(PLACES)
    assert all("confidence" not in parts(found) for found in result.places)


def test_filters_leave_only_what_they_say(library):
    assert set(ids(search(library, asked(borough_en="Queens")))) == {"trattoria", "pizzeria"}
    assert set(ids(search(library, asked(rating=4.0)))) == {"trattoria", "osteria"}
    assert ids(search(library, asked(borough_en="Bronx", rating=1.0))) == ["osteria"]


def test_places_of_a_declined_type_are_left_out_whatever_the_words_say(library):
    assert set(ids(search(library, asked("no pizza", declined=(PIZZA,))))) == set(PLACES) - {
        "pizzeria"
    }
    assert ids(search(library, asked(declined=(ITALIAN, PIZZA)))) == ["ramen"]
    assert ids(search(library, asked(declined=(ITALIAN,), borough_en="Queens"))) == ["pizzeria"]


def test_a_place_of_a_declined_type_stays_where_it_is_of_a_desired_one_too(library):
    left = ids(search(library, asked(types=("bar",), declined=(ITALIAN,))))
    assert set(left) == {"osteria", "pizzeria", "ramen"}


def test_a_declined_type_that_leaves_no_place_is_named(library):
    told = search(library, asked(borough_en="Queens", rating=4.0, declined=(ITALIAN,))).notices
    assert "borough_en 'Queens', rating ≥ 4, type ≠ 'italian_restaurant': remove one" in told[0]


def test_a_filter_that_leaves_no_place_is_named(library):
    for query, told in (
        (asked(borough_en="Brooklyn"), "matches borough_en 'Brooklyn': remove"),
        (asked(rating=4.9), "matches rating ≥ 4.9: remove"),
        (asked(borough_en="Bronx", rating=4.9), "matches rating ≥ 4.9: remove"),
        (
            asked(borough_en="Bronx", rating=4.5),
            "all of borough_en 'Bronx', rating ≥ 4.5: remove one",
        ),
        (
            asked(borough_en=("Brooklyn", "Harlem"), rating=4.5),
            "matches borough_en 'Brooklyn' / 'Harlem': remove",
        ),
    ):
        result = search(library, query, Failing())
        assert result.places == ()
        (notice,) = result.notices
        assert told in notice


def test_another_catalog_is_not_searched(library):
    result = engine(library).search("another", 5.0, asked())
    assert result.places == ()


def test_an_empty_index_has_no_places(fresh):
    assert search(fresh, cross_encoder=Failing()) == ((), ())
    fresh.load(Loader({}))
    assert search(fresh, cross_encoder=Failing()) == ((), ())


def test_the_cross_encoder_reads_the_question_in_english_the_wishes_and_each_place(library):
    reader = Words()
    query = asked("조용한 파스타", query_en="quiet pasta")
    result = search(library, query, reader, preferring={"waiting": 0.6, "food": 0.5})
    questions, texts = zip(*reader.asked, strict=True)
    assert set(questions) == {"quiet pasta [PREF] important: short waiting time"}
    assert len(texts) == len(PLACES)
    assert "Trattoria\nA quiet trattoria with handmade pasta." in texts
    crossed = {one.place.place_id: parts(one)["cross_encoder"] for one in result.places}
    assert (max(crossed.values()), min(crossed.values())) == (1.0, 0.0)


def test_a_question_of_somebody_who_wishes_nothing_stands_alone(library):
    reader = Words()
    search(library, cross_encoder=reader)
    assert {question for question, _ in reader.asked} == {"quiet pasta"}


def test_the_cross_encoder_reads_about_a_thousand_characters_of_a_place(fresh):
    fresh.load(Loader({"long": ("Quiet pasta. " * 500, [], "Queens", None, 0)}))
    reader = Words()
    search(fresh, cross_encoder=reader)
    ((_, text),) = reader.asked
    assert 500 < len(text) <= len("Long\n") + 1000


def test_without_a_cross_encoder_its_part_is_left_out_and_that_is_said(library):
    result = search(library)
    assert all("cross_encoder" not in parts(found) for found in result.places)
    (notice,) = result.notices
    assert "FOOTNOTE_RERANK_PROVIDER" in notice


def test_a_cross_encoder_that_fails_is_left_out_and_that_is_said(library):
    result = search(library, cross_encoder=Failing())
    assert ids(result) == ids(search(library))
    assert result.notices == (
        "The places are ranked without the cross-encoder: The reranker broke off.",
    )


def test_a_cross_encoder_that_takes_too_long_is_left_out_and_that_is_said(library):
    slow = Slow()
    result = search(library, cross_encoder=slow, budget_s=0.05)
    slow.free.set()
    assert ids(result) == ids(search(library))
    assert "took longer than 0.05 s" in result.notices[0]


def test_a_cross_encoder_without_weight_is_not_asked(library):
    weights = PartWeights(cross_encoder=0.0)
    assert search(library, cross_encoder=Failing(), weights=weights).notices == ()


def test_without_a_cross_encoder_what_reviewers_praise_moves_the_places(judged):
    only = PartWeights(hybrid=0.0, confidence=0.0)
    keen, thrifty = (search(judged, preferring=wishes, weights=only) for wishes in (KEEN, THRIFTY))
    assert ids(keen)[0] == "pizzeria"
    assert ids(keen)[-1] == "trattoria"
    assert (ids(thrifty)[0], ids(thrifty)[-1]) == ("osteria", "pizzeria")
    for result in (keen, thrifty):
        values = [parts(found)["aspects"] for found in result.places]
        assert (values[0], values[-1]) == (1.0, 0.0)


def test_a_place_that_nobody_judges_is_as_good_as_the_whole_catalog(judged):
    found = {one.place.place_id: parts(one)["aspects"] for one in search_keen(judged).places}
    service, price = 9 / 18, 10 / 19
    raw = {
        "ramen": 0.9 * service + 0.1 * price,
        "trattoria": 0.9 * (3 * service) / 12 + 0.1 * price,
        "pizzeria": 0.9 * (9 + 3 * service) / 12 + 0.1 * (1 + 3 * price) / 12,
    }
    span = raw["pizzeria"] - raw["trattoria"]
    assert found["ramen"] == pytest.approx((raw["ramen"] - raw["trattoria"]) / span)


def search_keen(library, cross_encoder=None, **options):
    return search(library, cross_encoder=cross_encoder, preferring=KEEN, **options)


def test_what_stands_in_for_the_cross_encoder_is_said(judged):
    assert search_keen(judged).notices == (
        "No reranker is set, so the praise of reviewers is used instead: set"
        " FOOTNOTE_RERANK_PROVIDER to fastembed or http.",
    )
    assert search_keen(judged, Failing()).notices == (
        "The praise of reviewers is used instead of the cross-encoder: The reranker broke off.",
    )
    slow = Slow()
    late = search_keen(judged, slow, budget_s=0.05)
    slow.free.set()
    assert late.notices[0].startswith(
        "The praise of reviewers is used instead of the cross-encoder: "
    )
    for result in (search_keen(judged, Failing()), late):
        assert [found.parts for found in result.places] == [
            found.parts for found in search_keen(judged).places
        ]


def test_with_a_cross_encoder_the_score_is_as_specified(judged):
    result = search_keen(judged, Words())
    assert result.notices == ()
    assert {name for found in result.places for name in parts(found)} == {
        "hybrid",
        "confidence",
        "cross_encoder",
    }


def test_without_a_weight_for_praise_the_score_is_as_specified(judged, library):
    result = search_keen(judged, weights=PartWeights(aspects=0.0))
    assert [found.parts for found in result.places] == [
        found.parts for found in search(library).places
    ]
    assert result.notices == search(library).notices


@pytest.mark.parametrize("wishes", [None, {}, {"service": 0.0, "price": 0.0}])
def test_where_nothing_matters_praise_is_left_out(judged, wishes):
    result = search(judged, preferring=wishes)
    assert all("aspects" not in parts(found) for found in result.places)
    assert "ranked without a cross-encoder" in result.notices[0]


def test_where_no_place_found_is_judged_praise_is_left_out(judged, library):
    assert all("aspects" not in parts(found) for found in search_keen(library).places)
    alone = search(judged, asked("ramen queue"), preferring=KEEN, candidates=1)
    assert ids(alone)[0] == "ramen"


def test_a_cross_encoder_without_weight_lets_praise_count_and_nothing_is_said(judged):
    result = search_keen(judged, weights=PartWeights(cross_encoder=0.0))
    assert "aspects" in parts(result.places[0])
    assert result.notices == ()


@given(st.floats(0.1, 10))
def test_wishes_that_are_all_as_many_times_as_strong_change_nothing(judged, times):
    wishes = {name: times * weight for name, weight in KEEN.items()}
    assert ids(search(judged, preferring=wishes)) == ids(search_keen(judged))


def test_a_question_in_a_script_that_the_model_does_not_read_is_ranked_by_words_alone(library):
    result = search(library, asked("wine"), known_scripts=frozenset({"korean"}))
    assert ids(result) == ["osteria"]
    assert parts(result.places[0])["hybrid"] == 1.0


def test_words_of_the_question_as_it_was_typed_are_found_too(fresh):
    fresh.load(Loader({**PLACES, "banchan": ("반찬이 맛있다", [], "Queens", None, 0)}))
    query = asked("반찬이 맛있는 곳", query_en="delicious side dishes")
    assert ids(search(fresh, query, dense_weight=0.0))[0] == "banchan"


def test_passages_are_those_found_best_first_and_at_most_five(fresh):
    reviews = [f"Review {n} tells of quiet evenings. {'Nothing else here. ' * 8}" for n in range(9)]
    best = f"Quiet pasta, quiet pasta. {'Nothing else here. ' * 8}"
    text = "\n\n".join([*reviews, best])
    fresh.load(Loader({"place": (text, [], "Queens", 4.0, 3), **PLACES}))
    found = of(search(fresh), "place")
    assert len(found.passages) == 5
    assert "Quiet pasta" in found.passages[0].text
    document = fresh.documents.text(found.place.document_id)
    for passage in found.passages:
        assert document[passage.start : passage.end] == passage.text
        assert passage.version


def test_a_place_whose_reviews_fill_the_lists_leaves_room_for_others(fresh):
    talkative = "\n\n".join(f"Quiet pasta, quiet pasta, evening {n}. " * 5 for n in range(60))
    fresh.load(Loader({"talkative": (talkative, [], "Queens", None, 0), **PLACES}))
    result = search(fresh, candidates=4)
    assert set(ids(result)) >= {"talkative", "trattoria", "osteria"}


def test_at_most_so_many_places_are_found(library):
    assert ids(search(library, k=2)) == ids(search(library))[:2]


def test_places_that_tie_come_by_confidence_then_title_then_id(fresh):
    same = "Quiet pasta."
    told = {
        "d": (same, ["bar"], "Queens", 3.0, 9),
        "c": (same, ["bar"], "Queens", 5.0, 9),
        "b": (same, ["bar"], "Queens", None, 0),
        "B": (same, ["bar"], "Queens", None, 0),
    }
    fresh.load(Loader(told))
    weights = PartWeights(hybrid=0.0, confidence=1e-30)
    result = search(fresh, asked(types=("bar",)), weights=weights)
    assert {found.score for found in result.places} == {0.5}
    assert ids(result) == ["c", "B", "b", "d"]


def test_a_passage_of_a_version_that_is_not_committed_is_not_shown(fresh):
    fresh.load(Loader())
    passages = fresh.active.passages
    passages.add_texts(
        ["quiet pasta quiet pasta"],
        [{"source_id": fresh.source.id, "document_id": "unborn"}],
        ids=["not committed"],
    )
    result = search(fresh)
    assert set(ids(result)) == set(PLACES)
    assert parts(result.places[0])["hybrid"] == 1.0
    shown = {passage.id for found in result.places for passage in found.passages}
    assert "not committed" not in shown


def test_a_document_that_is_no_place_any_more_is_left_out(library):
    class Gone(Places):
        def by_documents(self, document_ids):
            found = super().by_documents(document_ids)
            return {id_: place for id_, place in found.items() if place.place_id != "osteria"}

    without = replace(engine(library), places=Gone(library.database))
    assert set(ids(without.search(library.source.id, 5.0, asked()))) == set(PLACES) - {"osteria"}


@given(st.permutations(["quiet", "pasta", "garden", "queue"]))
def test_the_order_of_the_words_does_not_matter(library, words):
    result = search(library, asked(" ".join(words)))
    assert ids(result) == ids(search(library, asked("garden pasta queue quiet")))


@given(
    st.tuples(*[st.floats(0, 5)] * 4),
    st.sampled_from(["hybrid", "confidence", "type", "cross_encoder"]),
    st.floats(0, 5),
)
def test_a_place_best_in_a_part_does_not_fall_when_the_part_weighs_more(library, given, name, more):
    weights = PartWeights(*given)
    heavier = weights._replace(**{name: getattr(weights, name) + more})
    query = asked(types=("bar",))
    best = max(
        search(library, query, Words(), weights=PartWeights(1.0, 1.0, 1.0, 1.0, 1.0)).places,
        key=lambda found: parts(found)[name],
    ).place.place_id
    before, after = (
        ids(search(library, query, Words(), weights=each)).index(best)
        for each in (weights, heavier)
    )
    assert after <= before


def test_what_is_found_is_made_of_the_words_of_the_domain(library):
    found = search(library).places[0]
    assert isinstance(found, PlaceHit)
    assert isinstance(found.place, Place)
    assert isinstance(found.parts[0], PlacePart)
