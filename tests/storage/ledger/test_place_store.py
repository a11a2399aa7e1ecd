import math
from datetime import UTC, datetime, timedelta
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain import CatalogFilters, ImportItem, ImportKind, Outcome, Pattern, Place, Quote, Review
from domain.errors import NotFoundError, SourceError
from storage.ledger.document_store import StoredDocument, document_id
from storage.ledger.import_queue_store import ImportRuns
from storage.ledger.ledger import Ledger, NewVersion
from storage.ledger.place_store import Places
from storage.ledger.source_store import Sources
from tests.fakes.library import Library
from tests.postgresql.ledgers import open_ledger

pytestmark = pytest.mark.usefixtures("ledger_kind")

NOW = datetime(2026, 11, 22, 9, tzinfo=UTC)


@pytest.fixture(scope="module")
def library(tmp_path_factory, ledger_kind):
    return Library(tmp_path_factory.mktemp("places"))


@pytest.fixture
def catalog(library):
    return Catalog(library, "/restaurants")


class Catalog:
    """A catalog without places; those of earlier tests are removed."""

    def __init__(self, library, location):
        self.places = Places(library.database)
        self.ledger = Ledger(library.database)
        source = library.sources.ensure("catalogue", location, name=location)
        self.id = source.id
        self.run = ImportRuns(library.database).enqueue(source.id, "ada", ImportKind.IMPORT, {}).id
        known = library.documents.versions(self.id)
        self.remove([version.document_id for version in known.values()])

    def publish(self, *places, at=NOW, revision=1):
        """Publish places as pairs of title and details; without details, publish a document."""
        versions = [self.version(*place, at=at, revision=revision) for place in places]
        self.ledger.commit("index", self.run, versions)

    def remove(self, ids):
        self.ledger.remove(self.run, [(id_, item("x")) for id_ in ids])

    def version(self, title, details=None, *, at=NOW, revision=1):
        key = details["place_id"] if details else title
        document = StoredDocument(
            id=self.document(key), source_id=self.id, key=key, version="1", formats_version=1,
            title=title, location="places.jsonl", format="place", encoding=None, pages=(),
            warnings=(), details={"place": details} if details else {}, imported_at=at,
            revision=revision,
        )  # fmt: skip
        return NewVersion(document, "# " + title, (), item(key))

    def document(self, key):
        return document_id(self.id, key)

    def place_ids(self, **filters):
        return [place.place_id for place in self.places.list(self.id, **filters).places]

    def matching_ids(self, fields=None, min_rating=None, declined=(), desired=()):
        filters = CatalogFilters(fields or {}, tuple(desired), min_rating, tuple(declined))
        results = self.places.matching(self.id, filters)
        return sorted(place.place_id for place in self.places.by_documents(results).values())


def item(key):
    return ImportItem(key, "places.jsonl", Outcome.NEW)


def details(place_id, **more):
    unknown = {"rating": None, "ratings": 0, "latitude": None, "longitude": None}
    empty = {"types": [], "fields": {}, "facts": {}, "aspects": {}}
    return {"place_id": place_id} | unknown | empty | more


letters = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
names = st.text(letters, max_size=8)
words = st.text(letters.filter(lambda one: one != '"'), min_size=1) | st.sampled_from("aA구区")
numbers = st.floats(allow_nan=False, allow_infinity=False)
place_details = st.fixed_dictionaries(
    {
        "place_id": st.text(letters, min_size=1, max_size=8),
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


def patterns_of(details):
    return tuple(
        Pattern(*each, tuple(Quote(*quote) for quote in quotes), rank)
        for rank, (*each, quotes) in enumerate(details["patterns"], start=1)
    )


@given(title=names, details=place_details)
def test_places_are_stored_unchanged(library, title, details):
    catalog = Catalog(library, "/any")
    catalog.publish((title, details))
    place = Place(
        document_id=catalog.document(details["place_id"]),
        catalogue_id=catalog.id,
        place_id=details["place_id"],
        title=title,
        types=tuple(details["types"]),
        fields=details["fields"],
        facts=details["facts"],
        rating=details["rating"],
        reviews=details["ratings"],
        latitude=details["latitude"],
        longitude=details["longitude"],
        aspects={name: tuple(counts) for name, counts in details["aspects"].items()},
    )
    places = catalog.places
    assert places.get(catalog.id, details["place_id"]) == place
    assert places.list(catalog.id) == ((place,), 1)
    assert places.by_documents([place.document_id]) == {place.document_id: place}
    contents = Places(library.database).contents(catalog.id)
    assert contents.values == {name: [v] for name, v in sorted(details["fields"].items())}
    assert contents.types == sorted(set(details["types"]))
    assert contents.mean_rating == details["rating"]
    assert contents.aspects == place.aspects
    assert places.patterns([place.document_id]) == {place.document_id: patterns_of(details)}
    reviews = [Review(*review) for review in details["reviews"]]
    assert places.reviews([place.document_id]) == {place.document_id: reviews}


@given(name=words, value=words, other=words)
def test_fields_of_any_name_are_filtered_by_exact_value(library, name, value, other):
    catalog = Catalog(library, "/any")
    catalog.publish(("A", details("a", fields={name: value})))
    assert catalog.matching_ids({name: value}) == ["a"]
    assert catalog.matching_ids({name: other}) == (["a"] if other == value else [])


@given(kinds=st.lists(st.text("aAbB\\ ,다", min_size=1), max_size=3, unique=True))
def test_places_are_listed_by_each_of_their_types_only(library, kinds):
    catalog = Catalog(library, "/any")
    catalog.publish(("A", details("a", types=kinds)))
    for kind in kinds:
        assert catalog.place_ids(types=[kind]) == ["a"]
        assert catalog.place_ids(types=["none", kind]) == ["a"]
        assert (kind + "b" in kinds) is bool(catalog.place_ids(types=[kind + "b"]))
        assert (kind.swapcase() in kinds) is bool(catalog.place_ids(types=[kind.swapcase()]))


def test_places_must_match_all_filters_and_the_minimum_rating(catalog):
    catalog.publish(
        ("A", details("a", fields={"borough_en": "Queens", "price": "$"}, rating=4.0)),
        ("B", details("b", fields={"borough_en": "Queens", "price": "$$"}, rating=3.9)),
        ("C", details("c", fields={"borough_en": "Bronx"}, rating=None)),
        ("D", details("d")),
    )
    assert catalog.matching_ids() == ["a", "b", "c", "d"]
    assert catalog.matching_ids({"borough_en": "Queens"}) == ["a", "b"]
    assert catalog.matching_ids({"borough_en": "queens"}) == []
    assert catalog.matching_ids({"borough_en": "Queens", "price": "$$"}) == ["b"]
    assert catalog.matching_ids({"cuisine": "any"}) == []
    assert catalog.matching_ids(min_rating=4) == ["a"]
    assert catalog.matching_ids(min_rating=0) == ["a", "b"]
    assert catalog.place_ids(fields={"borough_en": "Queens"}, min_rating=3.9) == ["a", "b"]


def test_places_must_match_any_of_several_values_of_a_filter(catalog):
    catalog.publish(
        ("A", details("a", fields={"borough_en": "Queens", "price": "$"})),
        ("B", details("b", fields={"borough_en": "Queens", "price": "$$"})),
        ("C", details("c", fields={"borough_en": "Bronx"})),
        ("D", details("d", fields={"borough_en": "브루클린", "other": "Bronx"})),
    )
    assert catalog.matching_ids({"borough_en": ("Queens", "Bronx")}) == ["a", "b", "c"]
    assert catalog.matching_ids({"borough_en": ("브루클린", "bronx")}) == ["d"]
    assert catalog.matching_ids({"borough_en": ("Queens", "Bronx"), "price": ("$", "€")}) == ["a"]
    assert catalog.place_ids(fields={"borough_en": ("Bronx", "브루클린")}) == ["c", "d"]


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_values_and_types_match_in_any_unicode_form(catalog, form):
    def places(name, stored):
        own = {
            "fields": {"area": normalize(stored, "브루클린")},
            "types": [normalize(stored, "카페")],
        }
        return name, details(name, **own)

    catalog.publish(places("c", "NFC"), places("d", "NFD"), ("x", details("x", types=["카"])))
    area, cafe = normalize(form, "브루클린"), normalize(form, "카페")
    assert catalog.matching_ids({"area": ("none", area)}) == ["c", "d"]
    assert catalog.matching_ids(declined=[cafe]) == ["x"]
    assert catalog.matching_ids(declined=[cafe], desired=[cafe]) == ["c", "d", "x"]
    assert catalog.place_ids(fields={"area": area}) == catalog.place_ids(types=[cafe]) == ["c", "d"]
    assert catalog.place_ids(fields={"area": area[:-1]}) == []


def test_many_values_and_types_of_mixed_unicode_forms_can_be_requested(catalog):
    catalog.publish(("A", details("a", types=["카페 199"], fields={"area": "카페 199"})))
    values = tuple(f"카{normalize('NFD', '페')} {n}" for n in range(200))
    assert catalog.place_ids(fields={"area": values}, types=values) == ["a"]
    assert catalog.matching_ids({"area": values}) == ["a"]


kinds = st.lists(st.sampled_from("abAB다"), max_size=3, unique=True)


@given(types=kinds, declined=kinds, desired=kinds)
def test_places_of_declined_types_are_excluded_unless_they_have_a_desired_type(
    library, types, declined, desired
):
    catalog = Catalog(library, "/any")
    catalog.publish(("A", details("a", types=types)))
    stays = not set(types) & set(declined) or set(types) & set(desired)
    assert catalog.matching_ids(declined=declined, desired=desired) == (["a"] if stays else [])


def test_places_are_listed_page_by_page_by_title_and_id(catalog):
    catalog.publish(
        ("B", details("1")), ("A", details("3")), ("A", details("2")), ("C", details("0"))
    )
    assert catalog.place_ids() == ["2", "3", "1", "0"]
    page = catalog.places.list(catalog.id, offset=1, limit=2)
    assert ([place.place_id for place in page.places], page.total) == (["3", "1"], 4)
    assert catalog.places.list(catalog.id, offset=9).total == 4


def test_places_of_other_catalogs_are_not_returned(catalog, library):
    other = Catalog(library, "/devices")
    catalog.publish(("A", details("1", rating=4.0, types=["bar"], fields={"borough_en": "Bronx"})))
    other.publish(("Z", details("1", rating=2.0)), ("Y", details("2", rating=1.0)))
    assert catalog.places.get(catalog.id, "1").title == "A"
    assert catalog.matching_ids() == ["1"]
    assert catalog.place_ids() == ["1"]
    assert catalog.places.contents(other.id) == ({}, [], 1.5, {})


def test_without_rated_places_there_is_no_mean_rating(catalog):
    assert catalog.places.contents(catalog.id).mean_rating is None
    catalog.publish(("A", details("a")))
    assert catalog.places.contents(catalog.id).mean_rating is None


def test_positive_and_negative_counts_of_aspects_are_summed_per_catalog(catalog, library):
    other = Catalog(library, "/other")
    other.publish(("C", details("c", aspects={"food": [50, 50]})))
    a = details("a", aspects={"food": [2, 1]})
    b = details("b", aspects={"food": [3, 0], "price": [0, 4]})
    catalog.publish(("A", a), ("B", b), ("Plain", None))
    assert catalog.places.contents(catalog.id).aspects == {"food": (5, 1), "price": (0, 4)}
    assert catalog.places.contents("none") == ({}, [], None, {})


def test_values_and_types_are_sorted_without_duplicates(catalog):
    bar = details("b", types=["cafe", "bar"], fields={"town": "Bath", "area": "북구"})
    catalog.publish(("A", details("a", types=["cafe"], fields={"town": "York"})), ("B", bar))
    contents = catalog.places.contents(catalog.id)
    assert contents.types == ["bar", "cafe"]
    assert contents.values == {"area": ["북구"], "town": ["Bath", "York"]}


def test_counts_of_aspects_are_updated_after_each_import(catalog):
    def counts():
        return catalog.places.contents(catalog.id).aspects

    first, again = details("a", aspects={"food": [1, 0]}), details("a", aspects={"food": [0, 7]})
    catalog.publish(("A", first))
    assert counts() == counts() == {"food": (1, 0)}
    catalog.publish(("B", details("b", aspects={"food": [1, 1]})))
    assert counts() == {"food": (2, 1)}
    catalog.publish(("A", again), at=NOW + timedelta(seconds=1))
    assert counts() == {"food": (1, 8)}
    catalog.remove([catalog.document("a"), catalog.document("b")])
    assert counts() == {}


def test_filters_match_the_places_of_the_last_import(catalog):
    catalog.publish(("A", details("a", rating=2.0)), ("B", details("b", types=["bar"])))
    assert catalog.matching_ids(min_rating=1.0) == ["a"]
    again = details("b", rating=3.0, types=["cafe"], fields={"town": "York"})
    catalog.publish(("B", again), at=NOW + timedelta(seconds=1))
    assert catalog.matching_ids(min_rating=1.0, declined=["bar"]) == ["a", "b"]
    assert catalog.matching_ids({"town": "York"}) == ["b"]
    catalog.remove([catalog.document("a")])
    assert catalog.matching_ids() == ["b"]


def test_changes_are_visible_even_if_the_clock_was_set_back(catalog):
    catalog.publish(("A", details("a", types=["bar"])), ("B", details("b")))
    assert catalog.places.contents(catalog.id).types == ["bar"]
    earlier = NOW - timedelta(hours=1)
    catalog.publish(("A", details("a", types=["cafe"])), at=earlier, revision=2)
    assert catalog.places.contents(catalog.id).types == ["cafe"]


def test_a_place_is_removed_if_its_document_is_no_longer_a_place(catalog):
    catalog.publish(("A", details("a")), ("B", details("b")))
    catalog.publish(("a", None))
    assert catalog.place_ids() == ["b"]
    assert catalog.places.reviews([catalog.document("a")]) == {}


def test_places_are_removed_and_replaced_with_their_documents(catalog):
    catalog.publish(("A", details("a")), ("B", details("b", rating=1.0)))
    catalog.publish(("B", details("b", rating=2.0)))
    catalog.remove([catalog.document("a")])
    assert [place.rating for place in catalog.places.list(catalog.id).places] == [2.0]
    with pytest.raises(NotFoundError, match="no place 'a'"):
        catalog.places.get(catalog.id, "a")


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("name", ["rating", "latitude", "longitude", "reviews"])
def test_numbers_that_are_not_finite_are_rejected_by_name(catalog, name, number):
    bad = [[0, 1, "", number, "", ""]] if name == "reviews" else number
    with pytest.raises(SourceError, match=rf"'b' can't be stored: its {name} contains"):
        catalog.publish(("A", details("a")), ("B", details("b", **{name: bad})))
    assert catalog.place_ids() == []


def test_reviews_of_many_places_are_read_at_once(catalog):
    reviews = [[3, 9, "korean", 4.5, "2026-01-02", "r1"], [10, 12, "", None, "", ""]]
    ids = [f"{n:04}" for n in range(1200)]
    catalog.publish(*((place_id, details(place_id, reviews=reviews)) for place_id in ids))
    documents = [catalog.document(place_id) for place_id in ids]
    results = catalog.places.reviews([*documents, "none"])
    assert set(results) == set(documents)
    assert set(map(len, results.values())) == {2}
    assert catalog.places.patterns([*documents, "none"]) == dict.fromkeys(documents, ())
    assert results[documents[0]][0] == Review(3, 9, "korean", 4.5, "2026-01-02", "r1")
    assert len(catalog.places.by_documents([*documents, "none"])) == 1200


def test_places_are_available_after_a_restart(tmp_path):
    library = Library(tmp_path)
    Catalog(library, "/restaurants").publish(("A", details("a", fields={"borough_en": "Bronx"})))
    library.database.close()
    reopened = open_ledger(tmp_path)
    source = Sources(reopened).find("catalogue", "/restaurants")
    assert Places(reopened).get(source.id, "a").fields == {"borough_en": "Bronx"}
