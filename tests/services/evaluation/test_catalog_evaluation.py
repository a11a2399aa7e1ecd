"""A small catalog measured with labeled questions over the real parts."""

import json
from dataclasses import replace

import pytest

from domain import LOCAL_USER, CatalogFilters, CatalogQuery
from domain.errors import ConflictError, InputError
from services.evaluation.catalog_figures import (
    ASPECTS,
    CROSS_ENCODED,
    FILTERED,
    FULL,
    HYBRID,
    CatalogQuestion,
    evaluation_of,
)
from tests.fakes.cross_encoder import write_cross_encoder
from tests.fakes.restaurants import import_restaurants

pytestmark = pytest.mark.slow

QUEENS = CatalogFilters({"borough_en": "Queens"}, ("italian_restaurant",))
QUESTION = CatalogQuestion("q", "en", "Italian in Queens", QUEENS, acceptable=("pronto",))


@pytest.fixture
def build_evaluation(build_services, tmp_path):
    def build(**settings):
        services = build_services(embed=True, **settings)
        import_restaurants(services, tmp_path / "restaurants")
        return evaluation_of(services.catalog, LOCAL_USER)

    return build


def understanding(filters, query_en=""):
    return lambda text: CatalogQuery(text, query_en, filters, {"food": 0.9})


def test_only_the_hybrid_method_ignores_filters(build_evaluation):
    evaluation = replace(build_evaluation(), analyze=understanding(QUEENS))
    [outcome] = evaluation.outcomes([QUESTION])
    assert list(outcome.rankings) == [HYBRID, FILTERED, FULL, ASPECTS]
    assert set(outcome.rankings[HYBRID]) == {"lucia", "pronto", "taro", "nameless"}
    assert outcome.rankings[FILTERED] == outcome.rankings[FULL] == ["pronto"]


def test_only_the_full_method_uses_desired_types(build_evaluation):
    italian = CatalogFilters({}, ("italian_restaurant",))
    evaluation = replace(build_evaluation(), analyze=understanding(italian))
    ramen = replace(QUESTION, text="Ramen Taro delicious clear broth")
    [outcome] = evaluation.outcomes([ramen])
    assert outcome.rankings[FILTERED] == outcome.rankings[HYBRID]
    assert set(outcome.rankings[FULL][:2]) == {"lucia", "pronto"}


def test_only_the_aspects_method_uses_praise(build_evaluation):
    without_praise = build_evaluation(catalogue_aspects_weight=0.0)
    with_praise = build_evaluation(catalogue_aspects_weight=100.0)
    ambience = {"ambience": 1.0, "food": 0.0, "price": 0.0, "service": 0.0, "waiting": 0.0}
    ramen = replace(QUESTION, text="Ramen Taro clear broth")
    query = CatalogQuery(ramen.text, "", CatalogFilters(), ambience)
    [plain], [praised] = (
        replace(each, analyze=lambda _text: query).outcomes([ramen])
        for each in (without_praise, with_praise)
    )
    assert plain.rankings[ASPECTS] == plain.rankings[FULL] == praised.rankings[FULL]
    assert praised.rankings[ASPECTS][0] == "lucia" != praised.rankings[FULL][0]


def test_a_question_is_analyzed_like_one_of_a_user(build_evaluation):
    [outcome] = build_evaluation().outcomes([QUESTION])
    assert outcome.understood.filters == QUEENS


def test_a_configured_cross_encoder_adds_a_method(build_evaluation, tmp_path):
    folder = write_cross_encoder(tmp_path / "tiny", ["Pronto"])
    evaluation = build_evaluation(
        rerank_provider="fastembed", rerank_path=folder, rerank_budget_s=60
    )
    [outcome] = evaluation.outcomes([QUESTION])
    assert list(outcome.rankings) == [HYBRID, FILTERED, FULL, ASPECTS, CROSS_ENCODED]
    assert outcome.rankings[CROSS_ENCODED] == ["pronto"]


def test_the_questions_of_a_file_are_measured(build_evaluation, tmp_path):
    line = {
        "id": "q",
        "language": "en",
        "question": QUESTION.text,
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
    english, everything = build_evaluation().measure(file)
    assert (english.language, everything.language) == ("en", "all")
    assert english.filters.mean == english.ndcg[FULL].mean == 1
    with pytest.raises(InputError, match="can't be read"):
        build_evaluation().measure(tmp_path / "missing.jsonl")


def test_measuring_without_a_catalog_is_an_error(build_services):
    with pytest.raises(ConflictError, match="no catalog"):
        evaluation_of(build_services(embed=True).catalog, LOCAL_USER)
