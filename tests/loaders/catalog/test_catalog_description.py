"""Descriptions of catalogs are read completely, and each error names its field."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain import ASPECTS, Aspect, FilterField, NamedValue, ReviewColumns
from domain.errors import SourceError
from loaders.catalog.catalog_description import description_of, read_description

MINIMAL = {"catalog": "Homes", "places": "homes.csv", "id": "id", "title": "name"}
COMPLETE = """
catalog: New York restaurants
places: places.jsonl
id: place_id
title: name
text: [description]
facts: [address, phone]
types:
  column: types
  words: {italian_restaurant: {en: [italian, trattoria], ko: [이탈리안]}}
rating: {column: rating, scale: 10, count: votes}
location: {latitude: lat, longitude: lon}
filters:
  borough_en: {column: borough, words: {Brooklyn: {ko: [브루클린], ja: ブルックリン}}}
reviews: {file: data/reviews.jsonl, place: place_id, text: text, id: review_id, group: group}
groups: {korean: {en: Korean review, ko: 한국인 리뷰}}
aspects:
  food: {}
  battery: {about: {en: [battery]}, bad: {en: [drains]}}
"""


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / "catalog.yaml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def test_all_fields_are_read(write):
    description = description_of(read_description(write(COMPLETE)))
    assert (description.name, description.places, description.id) == (
        "New York restaurants",
        "places.jsonl",
        "place_id",
    )
    assert (description.text, description.facts) == (("description",), ("address", "phone"))
    italian = NamedValue(
        "italian_restaurant", {"en": ("italian", "trattoria"), "ko": ("이탈리안",)}
    )
    assert (description.types_column, description.types) == ("types", (italian,))
    assert (description.rating, description.rating_scale, description.rating_count) == (
        "rating",
        10.0,
        "votes",
    )
    brooklyn = NamedValue("Brooklyn", {"ko": ("브루클린",), "ja": ("ブルックリン",)})
    assert description.filters == (FilterField("borough_en", "borough", (brooklyn,)),)
    assert description.reviews == ReviewColumns(
        "text", file="data/reviews.jsonl", place="place_id", id="review_id", group="group"
    )
    assert description.groups == (("korean", {"en": "Korean review", "ko": "한국인 리뷰"}),)
    assert description.aspects == (
        Aspect("food"),
        Aspect("battery", {"en": ("battery",)}, {}, {"en": ("drains",)}),
    )


def test_four_fields_are_required():
    description = description_of(MINIMAL)
    assert (description.rating_scale, description.aspect_names, description.reviews) == (
        5.0,
        ASPECTS,
        None,
    )


def test_descriptions_can_be_stored_as_json(write):
    description = read_description(write(COMPLETE))
    assert description_of(json.loads(json.dumps(description))) == description_of(description)


def test_yaml_numbers_booleans_and_dates_are_read_as_text(write):
    description = read_description(write("id: 007\ntitle: no\nplaces: 2026-01-02\n"))
    assert description == {"id": "007", "title": "no", "places": "2026-01-02"}


def test_the_name_is_read_from_the_field_of_older_descriptions():
    old = {"catalogue": "Homes"} | {key: MINIMAL[key] for key in MINIMAL if key != "catalog"}
    assert description_of(old) == description_of(MINIMAL)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"catalog": None}, r"^catalog: required, but missing"),
        ({"id": ""}, r"^id: required, but missing"),
        ({"title": ["a"]}, r"^title: must be text"),
        ({"colour": "red"}, r"^colour: unknown field; .*catalog, places"),
        ({"places": "homes.xlsx"}, r"^places: the file type of homes\.xlsx is not supported"),
        (
            {"places": "/etc/homes.csv"},
            r"^places: /etc/homes\.csv must be in the folder of the description",
        ),
        (
            {"places": "../homes.csv"},
            r"^places: \.\./homes\.csv must be in the folder of the description",
        ),
        ({"text": [{"a": 1}]}, r"^text\[1\]: must be text"),
        ({"types": "kind"}, r"^types: must have fields"),
        ({"types": {"words": {}}}, r"^types\.column: required, but missing"),
        (
            {"types": {"column": "t", "words": {"bar": {"fr": ["bar"]}}}},
            r"^types\.words\.bar\.fr: unknown field; .*en, ko, ja",
        ),
        (
            {"rating": {"column": "r", "scale": "five"}},
            r"^rating\.scale: five is not a positive number",
        ),
        (
            {"rating": {"column": "r", "scale": "nan"}},
            r"^rating\.scale: nan is not a positive number",
        ),
        ({"rating": {"column": "r", "scale": 0}}, r"^rating\.scale: 0 is not a positive number"),
        ({"rating": {"count": "votes"}}, r"^rating\.column: required, but missing"),
        ({"location": {"latitude": "lat"}}, r"^location\.longitude: required, but missing"),
        ({"filters": {"city": {}}}, r"^filters\.city\.column: required, but missing"),
        ({"filters": {"my city": {"column": "c"}}}, r"^filters\.my city: names consist of letters"),
        (
            {"filters": {"declined_types": {"column": "c"}}},
            r"^filters\.declined_types: a built-in filter has",
        ),
        (
            {"filters": {"min_rating": {"column": "c"}}},
            r"^filters\.min_rating: a built-in filter has",
        ),
        ({"reviews": {"text": "t"}}, r"^reviews: set either “file” or “column”"),
        (
            {"reviews": {"text": "t", "file": "r.csv", "column": "r"}},
            r"^reviews: set either “file”",
        ),
        ({"reviews": {"text": "t", "file": "r.csv"}}, r"^reviews\.place: required, but missing"),
        (
            {"reviews": {"text": "t", "column": "r", "place": "p"}},
            r"^reviews\.place: remove it; reviews in a",
        ),
        ({"reviews": {"column": "r"}}, r"^reviews\.text: required, but missing"),
        ({"groups": {"locals": {"en": ""}}}, r"^groups\.locals\.en: required, but missing"),
        ({"aspects": {"battery": {}}}, r"^aspects\.battery: aspects other than the built-in ones"),
        ({"aspects": {"food": {"nice": {}}}}, r"^aspects\.food\.nice: unknown field"),
    ],
)
def test_an_error_names_its_field(change, message):
    with pytest.raises(SourceError, match=message):
        description_of({**MINIMAL, **change})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[id]: x\n", r"catalog\.yaml, line 1: the name of a field must precede"),
        ("id: [", r"catalog\.yaml, line \d: invalid YAML"),
        ("a: 1\nid: x\nid: y\n", r"catalog\.yaml, line 3: duplicate field “id”"),
        ("", "is not a catalog description"),
        ("- a\n", "is not a catalog description"),
        ("a: &x [1]\nb: [*x, *x]\n", r"catalog\.yaml, line 2: references"),
        ("a: " + "[" * 90 + "]" * 90, r"catalog\.yaml, line 1: references and deep nesting"),
        ("a: \x01", "a character that YAML does not allow"),
        (b"a: \xff", "not UTF-8"),
        ("a: " + "x" * 2**20, "too large"),
    ],
)
def test_the_error_for_an_invalid_file_contains_the_reason(write, text, message):
    with pytest.raises(SourceError, match=message):
        read_description(write(text))


def test_folders_are_rejected(tmp_path):
    with pytest.raises(SourceError, match="can't be opened: it is not a file"):
        read_description(tmp_path)


def test_missing_files_are_named(tmp_path):
    with pytest.raises(SourceError, match=r"no\.yaml can't be opened: No such file"):
        read_description(tmp_path / "no.yaml")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda children: (
        st.lists(children, max_size=3) | st.dictionaries(st.text(max_size=5), children, max_size=3)
    ),
    max_leaves=5,
)
FIELDS = [
    "types",
    "rating",
    "location",
    "filters",
    "reviews",
    "groups",
    "aspects",
    "text",
    "x",
    "id",
]


@given(st.dictionaries(st.sampled_from(FIELDS), VALUES))
def test_any_field_values_are_read_or_rejected_with_a_source_error(values):
    with suppress(SourceError):
        description_of({**MINIMAL, **values})
