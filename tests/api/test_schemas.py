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


def test_a_turn_says_everything_that_the_turn_of_the_domain_holds():
    told = Turn.model_validate(TURN).model_dump(mode="json")
    assert told["created_at"] == "2026-11-21T00:00:00Z"
    assert told["sources"][0]["why"]["parts"] == [
        {"ranker": "keyword", "rank": 1, "score": None, "share": 1.0}
    ]
    assert told["sources"][0]["hits"] == [{"passage_id": "p", "start": 1, "end": 8}]
    assert told["citations"][0]["state"] == "verified"
    assert told["steps"][0]["arguments"] == {"query": "days"}
    assert told["search"]["scope"]["sources"] == ["handbook"]


@pytest.mark.parametrize(
    "name", ["Turn", "Source", "Citation", "Step", "Explanation", "Scope", "SearchChoice"]
)
def test_each_schema_has_the_fields_of_its_domain_class(name):
    domain_class = domain.RetrievedPassage if name == "Source" else getattr(domain, name)
    model_fields = set(getattr(answer_schemas, name).model_fields)
    assert model_fields == {field.name for field in fields(domain_class)}


@pytest.mark.parametrize("name", ["FoundPlace", "Pattern", "PlacePassage", "Quote"])
def test_each_schema_of_places_has_the_fields_of_its_domain_class(name):
    kind = domain.PlaceHit if name == "FoundPlace" else getattr(domain, name)
    domain_fields = set(getattr(kind, "_fields", ())) or {one.name for one in fields(kind)}
    assert set(getattr(place_routes, name).model_fields) == domain_fields


def test_all_filters_of_places_can_be_given_and_are_told():
    told = {"borough_en": "Queens", "desired_types": ["bar"], "declined_types": ["cafe"]}
    filters = catalog_routes.PlaceFiltersRequest.model_validate(
        {**told, "min_rating": 4.0}
    ).filters()
    assert filters == domain.CatalogFilters({"borough_en": "Queens"}, ("bar",), 4.0, ("cafe",))
    query = domain.CatalogQuery("q", "q", filters)
    again = catalog_routes.understanding_of(query, ["borough_en"]).filters
    assert again == {**told, "min_rating": 4.0}
    assert catalog_routes.PlaceFiltersRequest.model_validate(again).filters() == filters


@pytest.mark.parametrize(
    ("given", "held", "told"),
    [
        ("Queens", "Queens", "Queens"),
        (["Queens"], "Queens", "Queens"),
        (["Queens", "Bronx", "Queens"], ("Queens", "Bronx"), ["Queens", "Bronx"]),
    ],
)
def test_a_filter_is_one_value_or_a_list_of_several(given, held, told):
    filters = catalog_routes.PlaceFiltersRequest.model_validate({"borough_en": given}).filters()
    assert filters.fields == {"borough_en": held}
    query = domain.CatalogQuery("q", "q", filters)
    assert catalog_routes.understanding_of(query, ["borough_en"]).filters["borough_en"] == told


@pytest.mark.parametrize("given", [None, "", [], [""]])
def test_a_filter_without_a_value_narrows_nothing(given):
    filters = catalog_routes.PlaceFiltersRequest.model_validate({"borough_en": given}).filters()
    assert filters == domain.CatalogFilters()


@pytest.mark.parametrize("given", [{}, {"declined_types": None}, {"declined_types": []}])
def test_no_type_is_declined_where_none_is_said(given):
    filters = catalog_routes.PlaceFiltersRequest.model_validate(given).filters()
    assert filters == domain.CatalogFilters()
    told = catalog_routes.understanding_of(domain.CatalogQuery("q", "q", filters), [])
    assert told.filters == {"desired_types": None, "min_rating": None}


def test_what_is_sent_becomes_the_choice_of_the_domain():
    given = SearchOptions.model_validate({"scope": {"labels": ["hr"]}, "mode": "bm25", "k": 3})
    assert given.choice() == domain.SearchChoice(
        domain.Scope(labels=("hr",)), domain.SearchMode.BM25, 3
    )
    assert SearchOptions().choice() == domain.SearchChoice()


@pytest.mark.parametrize(
    "wrong",
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
def test_what_nothing_could_be_searched_with_is_refused(wrong):
    with pytest.raises(ValidationError):
        SearchOptions.model_validate(wrong)


@given(st.dates(date(1600, 1, 1), date(9998, 12, 31)))
def test_every_day_can_be_told(day):
    assert ScopeRequest(since=day.isoformat()).scope().since == day.isoformat()


@given(st.from_regex(re.compile(MOMENT), fullmatch=True))
@example("9998-12-31T23:59-14:59")
@example("1600-01-01T00:00+14:59")
def test_every_moment_that_is_let_in_can_be_read(told):
    told = told.strip()
    if told and "-02-29" not in told:
        assert 1599 <= datetime.fromisoformat(told).astimezone(UTC).year <= 9999
