import re
from dataclasses import fields
from datetime import UTC, date, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError

import domain
from api.field_types import MOMENT
from api.rest import answer_schemas, catalog_routes, place_routes
from api.rest.answer_schemas import ScopeRequest, SearchOptions, Turn
from services.catalog import catalog_question

SOURCE = domain.RetrievedPassage(
    1,
    "p",
    "d",
    "Leave",
    "leave.md",
    "25 days",
    why=domain.Explanation(
        1.0,
        (domain.ScorePart("keyword", 1, None, 1.0),),
        ("days",),
        domain.Move(skipped="none is set"),
        {"format": "md"},
    ),
    hits=(domain.FoundPassage("p", 1, 8),),
)
TURN = domain.Turn(
    "t",
    "c",
    "How many?",
    domain.TurnState.COMPLETE,
    datetime(2026, 11, 21, tzinfo=UTC),
    sources=(SOURCE,),
    citations=(domain.Citation(1, domain.CitationState.VERIFIED, "25 days"),),
    timings_ms={"total": 2.5},
    search=domain.SearchChoice(domain.Scope(("handbook",), since="2026-11-21"), k=3),
    steps=(domain.Step(1, "search_documents", {"query": "days"}, sources=(1,)),),
)


def test_a_turn_has_all_the_data_of_the_domain_turn():
    data = Turn.model_validate(TURN).model_dump(mode="json")
    assert data["created_at"] == "2026-11-21T00:00:00Z"
    assert data["sources"][0]["why"]["parts"] == [
        {"ranker": "keyword", "rank": 1, "score": None, "share": 1.0}
    ]
    assert data["sources"][0]["hits"] == [{"passage_id": "p", "start": 1, "end": 8}]
    assert data["citations"][0]["state"] == "verified"
    assert data["steps"][0]["arguments"] == {"query": "days"}
    assert data["search"]["scope"]["sources"] == ["handbook"]


INTERNAL = {"Turn": {"basis"}}
"""Fields of domain classes that clients do not get: what decides whether a turn is withheld."""


@pytest.mark.parametrize(
    "name", ["Turn", "Source", "Citation", "Step", "Explanation", "Scope", "SearchChoice"]
)
def test_each_schema_has_the_fields_of_its_domain_class(name):
    domain_class = domain.RetrievedPassage if name == "Source" else getattr(domain, name)
    model_fields = set(getattr(answer_schemas, name).model_fields)
    domain_fields = {field.name for field in fields(domain_class)}
    assert model_fields == domain_fields - INTERNAL.get(name, set())


@pytest.mark.parametrize("name", ["FoundPlace", "Pattern", "PlacePassage", "Quote"])
def test_each_schema_of_places_has_the_fields_of_its_domain_class(name):
    kind = domain.PlaceHit if name == "FoundPlace" else getattr(domain, name)
    domain_fields = set(getattr(kind, "_fields", ())) or {one.name for one in fields(kind)}
    assert set(getattr(place_routes, name).model_fields) == domain_fields


def test_the_schema_of_answers_about_places_has_the_fields_of_the_service():
    renamed = {"query": "understood", "places": "restaurants"}
    names = [field.name for field in fields(catalog_question.CatalogAnswer)]
    assert set(catalog_routes.CatalogAnswer.model_fields) == {
        renamed.get(name, name) for name in names
    }


def test_all_place_filters_survive_a_round_trip():
    values = {"borough_en": "Queens", "desired_types": ["bar"], "declined_types": ["cafe"]}
    filters = catalog_routes.PlaceFiltersRequest.model_validate(
        {**values, "min_rating": 4.0}
    ).filters()
    assert filters == domain.CatalogFilters({"borough_en": "Queens"}, ("bar",), 4.0, ("cafe",))
    query = domain.CatalogQuery("q", "q", filters)
    result = catalog_routes.understanding_of(query, ["borough_en"]).filters
    assert result == {**values, "min_rating": 4.0}
    assert catalog_routes.PlaceFiltersRequest.model_validate(result).filters() == filters


@pytest.mark.parametrize(
    ("value", "stored", "expected"),
    [
        ("Queens", "Queens", "Queens"),
        (["Queens"], "Queens", "Queens"),
        (["Queens", "Bronx", "Queens"], ("Queens", "Bronx"), ["Queens", "Bronx"]),
    ],
)
def test_a_filter_is_one_value_or_a_list_of_several(value, stored, expected):
    filters = catalog_routes.PlaceFiltersRequest.model_validate({"borough_en": value}).filters()
    assert filters.fields == {"borough_en": stored}
    query = domain.CatalogQuery("q", "q", filters)
    assert catalog_routes.understanding_of(query, ["borough_en"]).filters["borough_en"] == expected


@pytest.mark.parametrize("value", [None, "", [], [""]])
def test_a_filter_without_a_value_has_no_effect(value):
    filters = catalog_routes.PlaceFiltersRequest.model_validate({"borough_en": value}).filters()
    assert filters == domain.CatalogFilters()


@pytest.mark.parametrize("body", [{}, {"declined_types": None}, {"declined_types": []}])
def test_no_type_is_declined_by_default(body):
    filters = catalog_routes.PlaceFiltersRequest.model_validate(body).filters()
    assert filters == domain.CatalogFilters()
    understanding = catalog_routes.understanding_of(domain.CatalogQuery("q", "q", filters), [])
    assert understanding.filters == {"desired_types": None, "min_rating": None}


def test_search_options_become_a_search_choice():
    options = SearchOptions.model_validate({"scope": {"labels": ["hr"]}, "mode": "bm25", "k": 3})
    assert options.choice() == domain.SearchChoice(
        domain.Scope(labels=("hr",)), domain.SearchMode.BM25, 3
    )
    assert SearchOptions().choice() == domain.SearchChoice()


@pytest.mark.parametrize(
    "options",
    [
        {"k": 0},
        {"k": 1001},
        {"k": "5"},
        {"score_threshold": "0.5"},
        {"by_agent": "yes"},
        {"score_threshold": 1.5},
        {"mode": "best"},
        {"scope": {"sources": [" "]}},
        {"scope": {"since": "yesterday"}},
        {"top_k": 3},
    ],
)
def test_invalid_search_options_are_rejected(options):
    with pytest.raises(ValidationError):
        SearchOptions.model_validate(options)


@given(st.dates(date(1600, 1, 1), date(9998, 12, 31)))
def test_every_day_is_accepted(day):
    assert ScopeRequest(since=day.isoformat()).scope().since == day.isoformat()


@given(st.from_regex(re.compile(MOMENT), fullmatch=True))
@example("9998-12-31T23:59-14:59")
@example("1600-01-01T00:00+14:59")
def test_every_time_that_matches_the_pattern_can_be_parsed(text):
    text = text.strip()
    if text and "-02-29" not in text:
        assert 1599 <= datetime.fromisoformat(text).astimezone(UTC).year <= 9999
