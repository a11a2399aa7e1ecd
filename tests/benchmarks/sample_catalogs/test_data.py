"""The committed data is what the script writes, and it is consistent."""

import csv
import json
from collections import Counter
from pathlib import Path
from statistics import mean

import pytest

from benchmarks.sample_catalogs.generate import CATALOGS, files, write
from benchmarks.sample_catalogs.homes import home_qualities, home_reviews, homes
from benchmarks.sample_catalogs.restaurant_reviews import FEWEST, MOST, restaurant_reviews
from benchmarks.sample_catalogs.restaurants import BOROUGHS, overall_quality, qualities, restaurants
from domain import ASPECTS, Skipped
from loaders.catalog.catalog_description import description_of, read_description
from loaders.catalog.catalog_places import CatalogPlaces

BOXES = {  # south, north, west, east: rough outlines of the boroughs
    "Manhattan": (40.70, 40.88, -74.02, -73.91),
    "Brooklyn": (40.57, 40.74, -74.04, -73.86),
    "Queens": (40.56, 40.80, -73.96, -73.70),
    "Bronx": (40.79, 40.92, -73.93, -73.77),
    "Staten Island": (40.49, 40.65, -74.26, -74.05),
}
# Well-known restaurants of New York: no invented name may contain one of theirs.
REAL = (
    "Katz", "Luger", "Bernardin", "Carbone", "Momofuku", "Lombardi", "Di Fara", "Balthazar", "Nobu",
    "Joe's", "Grimaldi", "Lucali", "Roberta", "Delmonico", "Gramercy Tavern", "Keens",
    "Sylvia's", "Xi'an", "Nom Wah", "Ippudo", "Totto", "Atomix", "Cote", "Jungsik", "Shake Shack",
    "Magnolia", "Levain", "Russ & Daughters", "Randazzo", "Meltemi", "Thalassa", "Masa",
)  # fmt: skip


@pytest.mark.parametrize("path", files())
def test_the_committed_data_equals_the_output_of_the_script(path):
    assert (CATALOGS / path).read_bytes() == files()[path].encode()


def test_the_script_writes_its_files_into_the_given_folder(tmp_path: Path):
    write(tmp_path)
    paths = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.*")}
    assert paths == set(files())


@pytest.mark.parametrize(("folder", "places"), [("restaurants", 300), ("homes", 80)])
def test_every_place_is_imported_with_its_reviews(folder, places):
    catalog = CatalogPlaces(CATALOGS / folder / "catalog.yaml")
    *refs, _description = catalog.list()
    assert len(refs) == places
    assert not [item for item in refs if isinstance(item, Skipped)]
    documents = [catalog.read(ref) for ref in refs]
    assert not [warning for document in documents for warning in document.metadata["warnings"]]
    reviews = [review for document in documents for review in document.metadata["place"]["reviews"]]
    assert len(reviews) == {"restaurants": 3000, "homes": 400}[folder]


def test_ids_and_names_are_unique():
    for rows, columns in (
        (restaurants(), ("place_id", "name", "phone")),
        (restaurant_reviews(), ("review_id",)),
        (homes(), ("home_id", "listing")),
        (home_reviews(), ("number",)),
    ):
        for column in columns:
            assert max(Counter(getattr(row, column) for row in rows).values()) == 1, column


def test_every_restaurant_has_3_to_25_reviews_and_every_review_has_a_restaurant():
    counts = Counter(review.place_id for review in restaurant_reviews())
    assert set(counts) == {place.place_id for place in restaurants()}
    assert (min(counts.values()), max(counts.values())) == (FEWEST, MOST)


def test_every_home_has_reviews_and_every_review_has_a_home():
    assert {review.home for review in home_reviews()} == {home.home_id for home in homes()}


def test_ratings_are_on_their_scales():
    assert all(0 <= place.rating <= 5 for place in restaurants())
    assert {review.rating for review in restaurant_reviews()} == {1, 2, 3, 4, 5}
    assert {review.stars for review in home_reviews()} <= set(range(1, 11))


def test_half_of_the_reviews_are_korean_and_each_group_writes_in_both_languages():
    korean = [is_korean(review.text) for review in restaurant_reviews()]
    assert 0.45 < mean(korean) < 0.55
    by_group = Counter(
        (review.group, is_korean(review.text)) for review in restaurant_reviews()
    )  # fmt: skip
    assert all(
        by_group[group, language] > 40 for group in ("local", "korean") for language in (0, 1)
    )
    assert by_group["korean", True] > 10 * by_group["korean", False]


def test_some_reviews_of_homes_are_japanese():
    assert 80 < sum("。" in review.comment for review in home_reviews()) < 140


def test_restaurants_are_inside_their_boroughs():
    for place in restaurants():
        south, north, west, east = BOXES[place.borough]
        assert south < place.lat < north, place
        assert west < place.lon < east, place


def test_each_type_exists_in_each_borough():
    pairs = {(type_, place.borough) for place in restaurants() for type_ in place.types}
    types = {type_ for type_, _ in pairs}
    assert len(types) == 24
    assert pairs == {(type_, borough) for type_ in types for borough in BOROUGHS}
    assert {len(place.types) for place in restaurants()} == {1, 2, 3}


def test_the_description_names_every_type_borough_and_group_of_the_data():
    description = description_of(read_description(CATALOGS / "restaurants/catalog.yaml"))
    assert {one.value for one in description.types} == {
        type_ for place in restaurants() for type_ in place.types
    }
    assert {one.value for one in description.filters[0].values} == set(BOROUGHS)
    assert {name for name, _ in description.groups} == {one.group for one in restaurant_reviews()}
    for one in (*description.types, *description.filters[0].values):
        assert set(one.words) == {"en", "ko", "ja"}, one.value


def test_no_word_stands_for_two_types():
    for folder in ("restaurants", "homes"):
        description = description_of(read_description(CATALOGS / folder / "catalog.yaml"))
        words = [
            word for one in description.types for words in one.words.values() for word in words
        ]
        assert [word for word, count in Counter(words).items() if count > 1] == []


def test_ratings_agree_with_the_quality_of_the_places():
    ranked = sorted(restaurants(), key=lambda place: overall_quality(qualities()[place.place_id]))
    assert (
        mean(place.rating for place in ranked[-50:])
        > mean(place.rating for place in ranked[:50]) + 1
    )
    review_ratings = {place.place_id: [] for place in restaurants()}
    for review in restaurant_reviews():
        review_ratings[review.place_id].append(review.rating)
    differences = [
        abs(mean(review_ratings[place.place_id]) - place.rating) for place in restaurants()
    ]
    assert mean(differences) < 0.45


def test_every_place_has_a_true_quality_for_each_aspect():
    assert set(qualities()) == {place.place_id for place in restaurants()}
    assert set(home_qualities()) == {home.home_id for home in homes()}
    for by_aspect in qualities().values():
        assert set(by_aspect) == set(ASPECTS)
        assert all(0 <= quality <= 1 for quality in by_aspect.values())


def test_no_restaurant_has_a_well_known_name():
    for place in restaurants():
        assert not [name for name in REAL if name.casefold() in place.name.casefold().split()]
        assert not [name for name in REAL if " " in name and name in place.name]


def test_the_data_is_small():
    assert sum(len(text.encode()) for text in files().values()) < 1_500_000


def test_fewer_than_2_percent_of_the_reviews_are_repeated():
    texts = [json.loads(line)["text"] for line in files()["restaurants/reviews.jsonl"].splitlines()]
    texts += [row["comment"] for row in csv.DictReader(files()["homes/reviews.csv"].splitlines())]
    assert len(set(texts)) > 0.98 * len(texts)


def is_korean(text):
    return any("가" <= letter <= "힣" for letter in text)
