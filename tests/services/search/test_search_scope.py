from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain import FILTER_FIELDS, Scope
from domain.errors import ConflictError, InputError
from services.access import Readable
from services.search.search_scope import condition_of, require_known_fields, searchable, together
from storage.filters import checks_of, matches
from storage.ledger.restriction_store import Denied
from storage.ledger.source_store import CATALOG_KIND, StoredSource


def source(id_, name, location):
    return StoredSource(id_, "directory", name, location, {}, datetime(2026, 1, 1, tzinfo=UTC))


KNOWN = [
    source("1", "handbook", "/docs/handbook"),
    source("2", "wiki", "/docs/wiki"),
    source("3", "wiki", "/old/wiki"),
]


def readable(*sources, **options):
    return Readable({one.id: one for one in sources}, **options)


def includes(scope, moment):
    return matches(checks_of(condition_of(scope, KNOWN)), {"modified_at": moment})


def test_an_empty_scope_has_no_filter():
    assert condition_of(Scope(), KNOWN) == {}


@pytest.mark.parametrize(
    ("name", "ids"),
    [("handbook", ["1"]), ("2", ["2"]), ("/old/wiki", ["3"]), ("wiki", ["2", "3"])],
)
def test_a_source_can_be_given_by_id_name_or_location(name, ids):
    assert condition_of(Scope(sources=[name]), KNOWN) == {"source_id": {"$in": ids}}


def test_names_are_compared_in_normalized_unicode():
    known = [source("1", "휴가", "/휴가")]
    decomposed = "\u1112\u1172\u1100\u1161"  # 휴가 in decomposed form, as some systems type it
    scope = Scope(sources=[decomposed], collections=[decomposed], labels=[decomposed])
    assert condition_of(scope, known) == {
        "source_id": {"$in": ["1"]},
        "collection": {"$in": ["휴가"]},
        "labels": {"$contains_any": ["휴가"]},
    }


def test_an_unknown_source_is_rejected_with_a_suggestion_and_a_list():
    with pytest.raises(InputError, match=r"'handbok'.*mean 'handbook'.*handbook, wiki"):
        condition_of(Scope(sources=["handbok"]), KNOWN)


def test_a_format_can_be_given_as_a_suffix():
    assert condition_of(Scope(formats=[".PDF", "md"]), KNOWN) == {"format": {"$in": ["pdf", "md"]}}


def test_a_period_includes_its_first_and_last_day():
    day = Scope(since="2026-11-21", until="2026-11-21")
    assert includes(day, "2026-11-21T00:00:00Z")
    assert includes(day, "2026-11-21T23:59:59Z")
    assert not includes(day, "2026-11-20T23:59:59Z")
    assert not includes(day, "2026-11-22T00:00:00Z")


def test_a_time_without_a_zone_is_in_utc():
    assert includes(Scope(since="2026-11-21T19:00+09:00"), "2026-11-21T10:00:00Z")
    assert not includes(Scope(since="2026-11-21T19:00"), "2026-11-21T10:00:00Z")


moments = st.datetimes(datetime(1000, 1, 1), datetime(9999, 12, 31), timezones=st.just(UTC))


@given(since=moments, until=moments, at=moments)
def test_a_period_includes_exactly_the_times_between_its_ends(since, until, at):
    since, until, at = (one.replace(microsecond=0) for one in [*sorted([since, until]), at])
    scope = Scope(since=since.isoformat(), until=until.isoformat())
    assert includes(scope, f"{at:%Y-%m-%dT%H:%M:%SZ}") is (since <= at <= until)


@pytest.mark.parametrize(
    "value", ["yesterday", "2026-13-01", "21.11.2026", "2026", "2026-11-21T25:00", "9" * 200]
)
def test_an_invalid_date_is_rejected_with_the_expected_format(value):
    with pytest.raises(InputError, match="since is not a date.*2026-11-21"):
        condition_of(Scope(since=value), KNOWN)


@pytest.mark.parametrize(("since", "until"), [("0001-01-01T00:00+09:00", ""), ("", "x")])
def test_a_date_out_of_range_is_rejected(since, until):
    with pytest.raises(InputError, match="is not a date"):
        condition_of(Scope(since=since, until=until), KNOWN)


def test_a_period_that_ends_before_its_start_is_rejected():
    with pytest.raises(ConflictError, match="swap"):
        condition_of(Scope(since="2026-11-22", until="2026-11-21"), KNOWN)


@pytest.mark.parametrize(
    ("field", "nearest"), [("label", "labels"), ("source", "source_id"), ("pages", "page")]
)
def test_an_unknown_field_is_rejected_with_a_suggestion_and_a_list(field, nearest):
    with pytest.raises(InputError, match=f"'{field}'.*mean '{nearest}'.*modified_at"):
        require_known_fields({"format": "pdf", field: "x"})


def test_an_unknown_operator_is_rejected():
    with pytest.raises(InputError, match=r"\$regex"):
        require_known_fields({"title": {"$regex": "x"}})


def test_every_listed_field_is_accepted():
    require_known_fields(dict.fromkeys(FILTER_FIELDS, "x"))


def test_fields_within_combined_filters_are_checked():
    require_known_fields({"$or": [{"format": "pdf"}, {"$not": {"title": "x"}}]})
    with pytest.raises(InputError, match="no filter field 'pages'"):
        require_known_fields({"$or": [{"format": "pdf"}, {"$not": {"pages": 1}}]})


def test_times_in_a_condition_become_the_text_that_the_library_stores():
    at = datetime(2026, 11, 21, 19, tzinfo=timezone(timedelta(hours=9)))
    condition = {"$or": [{"modified_at": {"$lte": at}}, {"modified_at": {"$in": [at]}}]}
    stored = "2026-11-21T10:00:00Z"
    assert searchable(condition, readable()) == {
        "$or": [{"modified_at": {"$lte": stored}}, {"modified_at": {"$in": [stored]}}]
    }


def test_white_space_around_a_name_is_ignored():
    assert condition_of(Scope(labels=(" hr ",)), []) == {"labels": {"$contains_any": ["hr"]}}


def test_a_scope_and_a_filter_are_combined():
    condition = {"format": {"$in": ["md"]}}
    assert together(condition, {"page": 2}) == {"format": {"$in": ["md"]}, "page": 2}
    with pytest.raises(ConflictError, match="both restrict format:"):
        together(condition, {"format": "pdf"})


BOX = replace(source("box", "files", "uploads/1"), options={"conversation_id": "c1"})


@pytest.mark.parametrize(
    ("condition", "ids"),
    [
        ({}, ["1", "2"]),
        ({"source_id": "2"}, ["2"]),
        ({"source_id": "box"}, []),
        ({"source_id": {"$in": ["1", "box"]}}, ["1"]),
        ({"source_id": {"$nin": ["1"]}}, ["2"]),
    ],
)
def test_files_of_a_conversation_are_searched_only_there(condition, ids):
    assert matching_sources(condition) == matching_sources(condition, "c2") == ids
    assert matching_sources(condition, "c1") == [*ids, "box"]


@pytest.mark.parametrize(
    "condition",
    [
        {"format": {"$in": ["pdf"]}},
        {"labels": {"$contains_any": ["hr"]}},
        {"modified_at": {"$gte": "2030"}},
        {"source_id": {"$in": ["1"]}, "collection": {"$in": ["HR"]}},
    ],
)
def test_files_of_a_conversation_are_searched_in_every_scope(condition):
    metadata = {"format": "md", "labels": ["it"], "modified_at": "2026", "collection": "IT"}
    assert matching_sources(condition, "c1", **metadata) == ["box"]
    assert (
        matching_sources(condition, "c2", **metadata)
        == matching_sources(condition, **metadata)
        == []
    )


def matching_sources(condition, conversation_id="", **metadata):
    checks = checks_of(searchable(condition, readable(*KNOWN, BOX), conversation_id))
    return [one for one in ("1", "2", "box") if matches(checks, {"source_id": one, **metadata})]


def test_without_private_sources_the_condition_is_unchanged():
    assert searchable({"format": "md"}, readable(*KNOWN)) == {"format": "md"}


CATALOG = replace(source("places", "restaurants", "/catalog.yaml"), kind=CATALOG_KIND)


@pytest.mark.parametrize(
    ("condition", "is_searched"),
    [
        ({}, False),
        ({"format": "md"}, False),
        ({"source_id": {"$nin": ["1"]}}, False),
        ({"source_id": {"$in": ["1"]}}, False),
        ({"source_id": {"$in": ["1", "places"]}}, True),
        ({"source_id": "places"}, True),
        ({"collection": {"$in": ["restaurants"]}}, True),
        ({"document_id": "d1"}, True),
    ],
)
def test_a_catalog_is_searched_only_if_the_condition_names_it(condition, is_searched):
    place = {
        "source_id": "places",
        "collection": "restaurants",
        "format": "md",
        "document_id": "d1",
    }
    checks = checks_of(searchable(condition, readable(*KNOWN, CATALOG)))
    assert matches(checks, place) is is_searched


def test_what_the_principal_may_not_read_is_excluded_from_every_condition():
    denied = Denied(frozenset(), frozenset({"d2", "d1"}))
    allowed = readable(*KNOWN[:1], hidden=("2", "3"), denied=denied)
    assert searchable({}, allowed) == {
        "source_id": {"$nin": ["2", "3"]},
        "document_id": {"$nin": ["d1", "d2"]},
    }
    assert searchable({"source_id": "2", "document_id": "d1"}, allowed) == {
        "source_id": {"$in": ["2"], "$nin": ["2", "3"]},
        "document_id": {"$in": ["d1"], "$nin": ["d1", "d2"]},
    }
