"""The description of a catalogue: what is read of it, and that each error names its field."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain import ASPECTS, Aspect, FilterField, NamedValue, ReviewColumns
from errors import SourceError
from loaders.catalogue.description import description_of, read_description

LEAST = {"catalogue": "Homes", "places": "homes.csv", "id": "id", "title": "name"}
WHOLE = """
catalogue: New York restaurants
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
        path = tmp_path / "catalogue.yaml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def test_each_field_is_read_as_it_is_written(write):
    found = description_of(read_description(write(WHOLE)))
    assert (found.name, found.places, found.id) == (
        "New York restaurants",
        "places.jsonl",
        "place_id",
    )
    assert (found.text, found.facts) == (("description",), ("address", "phone"))
    italian = NamedValue(
        "italian_restaurant", {"en": ("italian", "trattoria"), "ko": ("이탈리안",)}
    )
    assert (found.types_column, found.types) == ("types", (italian,))
    assert (found.rating, found.rating_scale, found.rating_count) == ("rating", 10.0, "votes")
    brooklyn = NamedValue("Brooklyn", {"ko": ("브루클린",), "ja": ("ブルックリン",)})
    assert found.filters == (FilterField("borough_en", "borough", (brooklyn,)),)
    assert found.reviews == ReviewColumns(
        "text", file="data/reviews.jsonl", place="place_id", id="review_id", group="group"
    )
    assert found.groups == (("korean", {"en": "Korean review", "ko": "한국인 리뷰"}),)
    assert found.aspects == (
        Aspect("food"),
        Aspect("battery", {"en": ("battery",)}, {}, {"en": ("drains",)}),
    )


def test_four_fields_are_enough():
    found = description_of(LEAST)
    assert (found.rating_scale, found.aspect_names, found.reviews) == (5.0, ASPECTS, None)


def test_what_is_read_outlives_being_kept_as_json(write):
    told = read_description(write(WHOLE))
    assert description_of(json.loads(json.dumps(told))) == description_of(told)


def test_words_that_yaml_takes_for_values_stay_words(write):
    told = read_description(write("id: 007\ntitle: no\nplaces: 2026-01-02\n"))
    assert told == {"id": "007", "title": "no", "places": "2026-01-02"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"catalogue": None}, r"^catalogue: it is missing"),
        ({"id": ""}, r"^id: it is missing"),
        ({"title": ["a"]}, r"^title: a text must stand here"),
        ({"colour": "red"}, r"^colour: there is no such field; .*catalogue, places"),
        ({"places": "homes.xlsx"}, r"^places: homes\.xlsx can't be read"),
        ({"places": "/etc/homes.csv"}, r"^places: /etc/homes\.csv is not beside the description"),
        ({"places": "../homes.csv"}, r"^places: \.\./homes\.csv is not beside the description"),
        ({"text": [{"a": 1}]}, r"^text\[1\]: a text must stand here"),
        ({"types": "kind"}, r"^types: fields must stand below it"),
        ({"types": {"words": {}}}, r"^types\.column: it is missing"),
        (
            {"types": {"column": "t", "words": {"bar": {"fr": ["bar"]}}}},
            r"^types\.words\.bar\.fr: there is no such field; .*en, ko, ja",
        ),
        (
            {"rating": {"column": "r", "scale": "five"}},
            r"^rating\.scale: five is no number above 0",
        ),
        ({"rating": {"column": "r", "scale": "nan"}}, r"^rating\.scale: nan is no number above 0"),
        ({"rating": {"column": "r", "scale": 0}}, r"^rating\.scale: 0 is no number above 0"),
        ({"rating": {"count": "votes"}}, r"^rating\.column: it is missing"),
        ({"location": {"latitude": "lat"}}, r"^location\.longitude: it is missing"),
        ({"filters": {"city": {}}}, r"^filters\.city\.column: it is missing"),
        ({"filters": {"my city": {"column": "c"}}}, r"^filters\.my city: a name is of letters"),
        (
            {"filters": {"declined_types": {"column": "c"}}},
            r"^filters\.declined_types: every catalogue has",
        ),
        (
            {"filters": {"min_rating": {"column": "c"}}},
            r"^filters\.min_rating: every catalogue has",
        ),
        ({"reviews": {"text": "t"}}, r"^reviews: either “file” or “column”"),
        ({"reviews": {"text": "t", "file": "r.csv", "column": "r"}}, r"^reviews: either “file”"),
        ({"reviews": {"text": "t", "file": "r.csv"}}, r"^reviews\.place: it is missing"),
        ({"reviews": {"text": "t", "column": "r", "place": "p"}}, r"^reviews\.place: reviews in a"),
        ({"reviews": {"column": "r"}}, r"^reviews\.text: it is missing"),
        ({"groups": {"locals": {"en": ""}}}, r"^groups\.locals\.en: it is missing"),
        ({"aspects": {"battery": {}}}, r"^aspects\.battery: it is none of the known aspects"),
        ({"aspects": {"food": {"nice": {}}}}, r"^aspects\.food\.nice: there is no such field"),
    ],
)
def test_an_error_names_its_field(change, message):
    with pytest.raises(SourceError, match=message):
        description_of({**LEAST, **change})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[id]: x\n", r"catalogue\.yaml, line 1: the name of a field must stand"),
        ("id: [", r"catalogue\.yaml: the YAML is broken at line \d"),
        ("a: 1\nid: x\nid: y\n", r"catalogue\.yaml, line 3: “id” stands there twice"),
        ("", "describes no catalogue"),
        ("- a\n", "describes no catalogue"),
        ("a: &x [1]\nb: [*x, *x]\n", r"catalogue\.yaml, line 2: references"),
        ("a: " + "[" * 90 + "]" * 90, r"catalogue\.yaml, line 1: references and deep nesting"),
        ("a: \x01", "a character that YAML does not allow"),
        (b"a: \xff", "not UTF-8"),
        ("a: " + "x" * 2**20, "too large"),
    ],
)
def test_a_file_that_is_no_description_says_why(write, text, message):
    with pytest.raises(SourceError, match=message):
        read_description(write(text))


def test_a_folder_is_no_description(tmp_path):
    with pytest.raises(SourceError, match="can't be opened: it is no file"):
        read_description(tmp_path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(SourceError, match=r"no\.yaml can't be opened: No such file"):
        read_description(tmp_path / "no.yaml")


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda below: (
        st.lists(below, max_size=3) | st.dictionaries(st.text(max_size=5), below, max_size=3)
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


@given(st.dictionaries(st.sampled_from(FIELDS), ANYTHING))
def test_whatever_stands_there_is_read_or_refused_in_words(told):
    with suppress(SourceError):
        description_of({**LEAST, **told})
