"""A small catalog measured with labeled questions over the real parts."""

import json
from dataclasses import replace

import pytest

from domain import LOCAL_USER, CatalogFilters, CatalogQuery
from errors import ConflictError, InputError
from services.evaluation.catalog_evaluation import (
    ASPECTS,
    CROSS_ENCODED,
    FILTERED,
    FULL,
    HYBRID,
    evaluation_of,
)
from services.evaluation.catalog_figures import CatalogQuestion
from tests.fakes.cross_encoder import write_cross_encoder
from tests.fakes.restaurants import import_restaurants

QUEENS = CatalogFilters({"borough_en": "Queens"}, ("italian_restaurant",))
ASKED = CatalogQuestion("q", "en", "Italian in Queens", QUEENS, acceptable=("pronto",))


@pytest.fixture
def measured(build_services, tmp_path):
    def build(**settings):
        services = build_services(embed=True, **settings)
        import_restaurants(services, tmp_path / "restaurants")
        return evaluation_of(services.catalog, LOCAL_USER)

    return build


def understanding(filters, query_en=""):
    return lambda text: CatalogQuery(text, query_en, filters, {"food": 0.9})


def test_hybrid_alone_searches_everywhere_and_the_others_where_the_filters_leave_places(measured):
    evaluation = replace(measured(), analyze=understanding(QUEENS))
    [found] = evaluation.outcomes([ASKED])
    assert list(found.rankings) == [HYBRID, FILTERED, FULL, ASPECTS]
    assert set(found.rankings[HYBRID]) == {"lucia", "pronto", "taro", "nameless"}
    assert found.rankings[FILTERED] == found.rankings[FULL] == ["pronto"]


def test_only_the_full_way_lets_desired_types_count(measured):
    italian = CatalogFilters({}, ("italian_restaurant",))
    evaluation = replace(measured(), analyze=understanding(italian))
    ramen = replace(ASKED, text="Ramen Taro delicious clear broth")
    [found] = evaluation.outcomes([ramen])
    assert found.rankings[FILTERED] == found.rankings[HYBRID]
    assert set(found.rankings[FULL][:2]) == {"lucia", "pronto"}


def test_what_reviewers_praise_counts_in_the_way_that_is_named_for_it_alone(measured):
    nothing = measured(catalogue_aspects_weight=0.0)
    praise = measured(catalogue_aspects_weight=100.0)
    ambience = {"ambience": 1.0, "food": 0.0, "price": 0.0, "service": 0.0, "waiting": 0.0}
    ramen = replace(ASKED, text="Ramen Taro clear broth")
    told = CatalogQuery(ramen.text, "", CatalogFilters(), ambience)
    [without], [found] = (
        replace(each, analyze=lambda _text: told).outcomes([ramen]) for each in (nothing, praise)
    )
    assert without.rankings[ASPECTS] == without.rankings[FULL] == found.rankings[FULL]
    assert found.rankings[ASPECTS][0] == "lucia" != found.rankings[FULL][0]


def test_a_question_is_understood_as_when_somebody_asks_it(measured):
    [found] = measured().outcomes([ASKED])
    assert found.understood.filters == QUEENS


def test_a_cross_encoder_that_is_set_is_a_further_way(measured, tmp_path):
    folder = write_cross_encoder(tmp_path / "tiny", ["Pronto"])
    evaluation = measured(rerank_provider="fastembed", rerank_path=folder, rerank_budget_s=60)
    [found] = evaluation.outcomes([ASKED])
    assert list(found.rankings) == [HYBRID, FILTERED, FULL, ASPECTS, CROSS_ENCODED]
    assert found.rankings[CROSS_ENCODED] == ["pronto"]


def test_the_figures_are_those_of_the_file(measured, tmp_path):
    line = {
        "id": "q",
        "language": "en",
        "question": ASKED.text,
        "filters": {
            "borough_en": "Queens",
            "desired_types": ["italian_restaurant"],
            "min_rating": None,
        },
        "aspect_weights": {},
        "acceptable": ["pronto"],
    }
    file = tmp_path / "questions.jsonl"
    file.write_text(json.dumps(line))
    english, everything = measured().measure(file)
    assert (english.language, everything.language) == ("en", "all")
    assert english.filters.mean == english.ndcg[FULL].mean == 1
    with pytest.raises(InputError, match="can't be read"):
        measured().measure(tmp_path / "missing.jsonl")


def test_a_catalog_that_is_not_there_can_not_be_measured(build_services):
    with pytest.raises(ConflictError, match="no catalog"):
        evaluation_of(build_services(embed=True).catalog, LOCAL_USER)
