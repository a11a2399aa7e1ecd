import math
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain import ImportItem, ImportKind, Outcome, Pattern, Place, Quote, Review
from errors import NotFoundError, SourceError
from storage.ledger.database import open_database
from storage.ledger.document_store import StoredDocument, document_id
from storage.ledger.import_queue_store import ImportRuns
from storage.ledger.ledger import Ledger, NewVersion
from storage.ledger.place_store import NOTHING, Places
from storage.ledger.source_store import Sources
from tests.fakes.library import Library

NOW = datetime(2026, 11, 22, 9, tzinfo=UTC)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return Library(tmp_path_factory.mktemp("places"))


@pytest.fixture
def catalog(library):
    return Catalog(library, "/restaurants")


class Catalog:
    """An empty catalog of a library."""

    def __init__(self, library, location):
        self.places = Places(library.database)
        self.ledger = Ledger(library.database)
        source = library.sources.ensure("catalogue", location, name=location)
        self.id = source.id
        self.run = ImportRuns(library.database).enqueue(source.id, "ada", ImportKind.IMPORT, {}).id
        known = library.documents.versions(self.id)
        self.remove([version.document_id for version in known.values()])

    def publish(self, *places, at=NOW, revision=1):
        """Publishes places given as (title, details) or, without details, plain documents."""
        versions = [self.version(*place, at=at, revision=revision) for place in places]
        self.ledger.commit("index", self.run, versions)

    def remove(self, ids):
        self.ledger.remove(self.run, [(id_, item("x")) for id_ in ids])

    def version(self, title, told=None, *, at=NOW, revision=1):
        key = told["place_id"] if told else title
        document = StoredDocument(
            id=self.document(key), source_id=self.id, key=key, version="1", formats_version=1,
            title=title, location="places.jsonl", format="place", encoding=None, pages=(),
            warnings=(), details={"place": told} if told else {}, imported_at=at, revision=revision,
        )  # fmt: skip
        return NewVersion(document, "# " + title, (), item(key))

    def document(self, key):
        return document_id(self.id, key)

    def listed(self, **wanted):
        return [place.place_id for place in self.places.list(self.id, **wanted).places]

    def matching(self, fields=None, min_rating=None, declined=(), desired=()):
        found = self.places.matching(self.id, fields or {}, min_rating, declined, desired)
        return sorted(place.place_id for place in self.places.by_documents(found).values())


def item(key):
    return ImportItem(key, "places.jsonl", Outcome.NEW)


def told(place_id, **more):
    return {"place_id": place_id} | more


names = st.text(max_size=8)
words = st.text(st.characters(exclude_characters='"'), min_size=1) | st.sampled_from("aA구区")
numbers = st.floats(allow_nan=False, allow_infinity=False)
written = st.fixed_dictionaries(
    {
        "place_id": st.text(min_size=1, max_size=8),
        "types": st.lists(names, max_size=3),
        "fields": st.dictionaries(names, names, max_size=3),
        "facts": st.dictionaries(names, names, max_size=3),
        "rating": st.none() | st.floats(0, 5),
        "ratings": st.integers(0, 2**31),
        "latitude": st.none() | st.floats(-90, 90),
        "longitude": st.none() | st.floats(-180, 180),
        "aspects": st.dictionaries(names, st.lists(st.integers(0, 99), min_size=2, max_size=2)),
        "reviews": st.lists(
            st.tuples(
                st.integers(0, 99), st.integers(0, 99), names, st.none() | numbers, names, names
            ).map(list),
            max_size=3,
        ),
        "patterns": st.lists(
            st.tuples(
                names,
                names,
                st.booleans(),
                st.integers(2, 99),
                st.integers(2, 99),
                st.lists(st.tuples(names, st.integers(0, 9), st.integers(0, 9)).map(list)),
            ).map(list),
            max_size=3,
        ),
    }
)


def patterns_of(told):
    return tuple(
        Pattern(*each, tuple(Quote(*quote) for quote in quotes), rank)
        for rank, (*each, quotes) in enumerate(told["patterns"], start=1)
    )


@given(title=names, told=written)
def test_what_is_published_is_what_places_give_back(library, title, told):
    catalog = Catalog(library, "/any")
    catalog.publish((title, told))
    place = Place(
        document_id=catalog.document(told["place_id"]),
        catalogue_id=catalog.id,
        place_id=told["place_id"],
        title=title,
        types=tuple(told["types"]),
        fields=told["fields"],
        facts=told["facts"],
        rating=told["rating"],
        reviews=told["ratings"],
        latitude=told["latitude"],
        longitude=told["longitude"],
        aspects={name: tuple(counts) for name, counts in told["aspects"].items()},
    )
    places = catalog.places
    assert places.get(catalog.id, told["place_id"]) == place
    assert places.list(catalog.id) == ((place,), 1)
    assert places.by_documents([place.document_id]) == {place.document_id: place}
    held = Places(library.database).contents(catalog.id)
    assert held.values == {name: [v] for name, v in sorted(told["fields"].items())}
    assert held.types == sorted(set(told["types"]))
    assert held.mean_rating == told["rating"]
    assert held.aspects == place.aspects
    assert places.patterns([place.document_id]) == {place.document_id: patterns_of(told)}
    reviews = [Review(*review) for review in told["reviews"]]
    assert places.reviews([place.document_id]) == {place.document_id: reviews}


@given(name=words, value=words, other=words)
def test_a_place_matches_the_exact_value_of_a_field_of_any_name(library, name, value, other):
    catalog = Catalog(library, "/any")
    catalog.publish(("A", told("a", fields={name: value})))
    assert catalog.matching({name: value}) == ["a"]
    assert catalog.matching({name: other}) == (["a"] if other == value else [])


@given(kinds=st.lists(st.text("aAbB\\ ,다", min_size=1), max_size=3, unique=True))
def test_a_place_is_listed_by_each_of_its_types_and_no_other(library, kinds):
    catalog = Catalog(library, "/any")
    catalog.publish(("A", told("a", types=kinds)))
    for kind in kinds:
        assert catalog.listed(types=[kind]) == ["a"]
        assert catalog.listed(types=["none", kind]) == ["a"]
        assert (kind + "b" in kinds) is bool(catalog.listed(types=[kind + "b"]))
        assert (kind.swapcase() in kinds) is bool(catalog.listed(types=[kind.swapcase()]))


def test_filters_leave_what_has_every_value_and_the_rating(catalog):
    catalog.publish(
        ("A", told("a", fields={"borough_en": "Queens", "price": "$"}, rating=4.0)),
        ("B", told("b", fields={"borough_en": "Queens", "price": "$$"}, rating=3.9)),
        ("C", told("c", fields={"borough_en": "Bronx"}, rating=None)),
        ("D", told("d")),
    )
    assert catalog.matching() == ["a", "b", "c", "d"]
    assert catalog.matching({"borough_en": "Queens"}) == ["a", "b"]
    assert catalog.matching({"borough_en": "queens"}) == []
    assert catalog.matching({"borough_en": "Queens", "price": "$$"}) == ["b"]
    assert catalog.matching({"cuisine": "any"}) == []
    assert catalog.matching(min_rating=4) == ["a"]
    assert catalog.matching(min_rating=0) == ["a", "b"]
    assert catalog.listed(fields={"borough_en": "Queens"}, min_rating=3.9) == ["a", "b"]


def test_of_several_values_of_a_filter_a_place_has_any(catalog):
    catalog.publish(
        ("A", told("a", fields={"borough_en": "Queens", "price": "$"})),
        ("B", told("b", fields={"borough_en": "Queens", "price": "$$"})),
        ("C", told("c", fields={"borough_en": "Bronx"})),
        ("D", told("d", fields={"borough_en": "브루클린", "other": "Bronx"})),
    )
    assert catalog.matching({"borough_en": ("Queens", "Bronx")}) == ["a", "b", "c"]
    assert catalog.matching({"borough_en": ("브루클린", "bronx")}) == ["d"]
    assert catalog.matching({"borough_en": ("Queens", "Bronx"), "price": ("$", "€")}) == ["a"]
    assert catalog.listed(fields={"borough_en": ("Bronx", "브루클린")}) == ["c", "d"]


kinds = st.lists(st.sampled_from("abAB다"), max_size=3, unique=True)


@given(of=kinds, declined=kinds, desired=kinds)
def test_a_place_of_a_declined_type_is_left_out_unless_it_is_of_a_desired_one(
    library, of, declined, desired
):
    catalog = Catalog(library, "/any")
    catalog.publish(("A", told("a", types=of)))
    stays = not set(of) & set(declined) or set(of) & set(desired)
    assert catalog.matching(declined=declined, desired=desired) == (["a"] if stays else [])


def test_a_list_is_by_title_then_id_and_comes_in_pages(catalog):
    catalog.publish(("B", told("1")), ("A", told("3")), ("A", told("2")), ("C", told("0")))
    assert catalog.listed() == ["2", "3", "1", "0"]
    page = catalog.places.list(catalog.id, offset=1, limit=2)
    assert ([place.place_id for place in page.places], page.total) == (["3", "1"], 4)
    assert catalog.places.list(catalog.id, offset=9).total == 4


def test_catalogs_do_not_see_each_other_s_places(catalog, library):
    other = Catalog(library, "/devices")
    catalog.publish(("A", told("1", rating=4.0, types=["bar"], fields={"borough_en": "Bronx"})))
    other.publish(("Z", told("1", rating=2.0)), ("Y", told("2", rating=1.0)))
    assert catalog.places.get(catalog.id, "1").title == "A"
    assert catalog.matching() == ["1"]
    assert {"1", "2"} <= {place.place_id for place in catalog.places.list().places}
    assert catalog.places.contents(other.id) == ({}, [], 1.5, {})


def test_without_a_rated_place_there_is_no_mean(catalog):
    assert catalog.places.contents(catalog.id).mean_rating is None
    catalog.publish(("A", told("a")))
    assert catalog.places.contents(catalog.id).mean_rating is None


def test_praise_and_blame_are_summed_over_a_catalog(catalog, library):
    other = Catalog(library, "/other")
    other.publish(("C", told("c", aspects={"food": [50, 50]})))
    a, b = told("a", aspects={"food": [2, 1]}), told("b", aspects={"food": [3, 0], "price": [0, 4]})
    catalog.publish(("A", a), ("B", b), ("Plain", None))
    assert catalog.places.contents(catalog.id).aspects == {"food": (5, 1), "price": (0, 4)}
    assert catalog.places.contents("none") == NOTHING


def test_values_and_types_come_once_and_sorted(catalog):
    bar = told("b", types=["cafe", "bar"], fields={"town": "Bath", "area": "북구"})
    catalog.publish(("A", told("a", types=["cafe"], fields={"town": "York"})), ("B", bar))
    held = catalog.places.contents(catalog.id)
    assert held.types == ["bar", "cafe"]
    assert held.values == {"area": ["북구"], "town": ["Bath", "York"]}


def test_praise_is_summed_anew_after_each_import(catalog):
    def counts():
        return catalog.places.contents(catalog.id).aspects

    first, again = told("a", aspects={"food": [1, 0]}), told("a", aspects={"food": [0, 7]})
    catalog.publish(("A", first))
    assert counts() == counts() == {"food": (1, 0)}
    catalog.publish(("B", told("b", aspects={"food": [1, 1]})))
    assert counts() == {"food": (2, 1)}
    catalog.publish(("A", again), at=NOW + timedelta(seconds=1))
    assert counts() == {"food": (1, 8)}
    catalog.remove([catalog.document("a"), catalog.document("b")])
    assert counts() == {}


def test_a_change_after_the_clock_was_put_back_is_seen(catalog):
    catalog.publish(("A", told("a", types=["bar"])), ("B", told("b")))
    assert catalog.places.contents(catalog.id).types == ["bar"]
    earlier = NOW - timedelta(hours=1)
    catalog.publish(("A", told("a", types=["cafe"])), at=earlier, revision=2)
    assert catalog.places.contents(catalog.id).types == ["cafe"]


def test_a_place_goes_when_its_document_is_none_any_more(catalog):
    catalog.publish(("A", told("a")), ("B", told("b")))
    catalog.publish(("a", None))
    assert catalog.listed() == ["b"]
    assert catalog.places.reviews([catalog.document("a")]) == {}


def test_a_place_goes_with_its_document_and_a_new_version_replaces_it(catalog):
    catalog.publish(("A", told("a")), ("B", told("b", rating=1.0)))
    catalog.publish(("B", told("b", rating=2.0)))
    catalog.remove([catalog.document("a")])
    assert [place.rating for place in catalog.places.list(catalog.id).places] == [2.0]
    with pytest.raises(NotFoundError, match="no place 'a'"):
        catalog.places.get(catalog.id, "a")


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("name", ["rating", "latitude", "longitude", "reviews"])
def test_a_number_that_is_not_finite_is_refused_by_its_name_and_nothing_is_stored(
    catalog, name, number
):
    bad = [[0, 1, "", number, "", ""]] if name == "reviews" else number
    with pytest.raises(SourceError, match=rf"'b' can't be stored: its {name} contains"):
        catalog.publish(("A", told("a")), ("B", told("b", **{name: bad})))
    assert catalog.listed() == []


def test_reviews_of_many_places_come_at_once(catalog):
    reviews = [[3, 9, "korean", 4.5, "2026-01-02", "r1"], [10, 12, "", None, "", ""]]
    ids = [f"{n:04}" for n in range(1200)]
    catalog.publish(*((one, told(one, reviews=reviews)) for one in ids))
    documents = [catalog.document(one) for one in ids]
    found = catalog.places.reviews([*documents, "none"])
    assert set(found) == set(documents)
    assert set(map(len, found.values())) == {2}
    assert catalog.places.patterns([*documents, "none"]) == dict.fromkeys(documents, ())
    assert found[documents[0]][0] == Review(3, 9, "korean", 4.5, "2026-01-02", "r1")
    assert len(catalog.places.by_documents([*documents, "none"])) == 1200


def test_the_ledger_remembers_places_in_the_next_process(tmp_path):
    library = Library(tmp_path)
    Catalog(library, "/restaurants").publish(("A", told("a", fields={"borough_en": "Bronx"})))
    library.database.close()
    again = open_database(tmp_path)
    source = Sources(again).find("catalogue", "/restaurants")
    assert Places(again).get(source.id, "a").fields == {"borough_en": "Bronx"}
