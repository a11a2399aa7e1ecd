"""Catalogs as sources: the documents of places, and the handling of invalid data."""

import json

import pytest
import yaml

from domain import DocumentRef, NewOptions, Pattern, PreviousImport, Quote, Removed, Skipped
from domain.errors import SourceError, UnreadableError
from loaders.catalog.catalog_data import ReviewFindings, ReviewJudge
from loaders.catalog.catalog_places import CatalogPlaces
from loaders.split import split
from tests.loaders.catalog.catalogs import CAFES, REVIEWS, write_catalog

ADVICE = "; correct it, or leave it empty (null) if it is unknown"
LINDEN = """# Café Linden

Coffee and cake.

## Facts

- kinds: cafe, bakery
- town: Bristol
- street: Elm Street 1
- stars: 4.5/5

## Reviews

### locals · 5/5 · 2026-03-01

Lovely cake.

### Review · 2/5

Too loud."""


@pytest.fixture
def catalog(tmp_path):
    def write(**changes):
        return CatalogPlaces(write_catalog(tmp_path / "cafes", **changes))

    return write


def refs(loader, previous=None):
    entries = loader.list(previous) if previous else loader.list()
    return {entry.key: entry for entry in entries if isinstance(entry, DocumentRef)}


def skipped(loader):
    return {entry.key: entry.reason for entry in loader.list() if isinstance(entry, Skipped)}


def read(loader, key):
    return loader.read(refs(loader)[key])


def place(loader, key):
    return read(loader, key).metadata["place"]


def cafes_with(n, **values):
    """The cafés, with these values in the n-th one (from 0)."""
    return [row | values if index == n else row for index, row in enumerate(CAFES)]


def test_a_place_becomes_a_document_with_texts_facts_and_reviews(catalog):
    document = read(catalog(), "a1")
    assert document.page_content == LINDEN
    metadata = document.metadata
    assert (metadata["key"], metadata["title"], metadata["format"]) == (
        "a1",
        "Café Linden",
        "place",
    )
    assert metadata["warnings"] == []


def test_the_metadata_of_a_place_is_json_and_contains_review_spans(catalog):
    data = place(catalog(), "a1")
    assert json.loads(json.dumps(data)) == data
    reviews = data.pop("reviews")
    assert data == {
        "place_id": "a1",
        "types": ["cafe", "bakery"],
        "fields": {"city": "Bristol"},
        "facts": {"street": "Elm Street 1"},
        "rating": 4.5,
        "ratings": 2,
        "latitude": 51.4,
        "longitude": -2.6,
        "aspects": {},
        "patterns": [],
    }
    assert [LINDEN[start:end] for start, end, *_ in reviews] == ["Lovely cake.", "Too loud."]
    assert [tuple(rest) for _, _, *rest in reviews] == [
        ("locals", 5.0, "2026-03-01", "r1"),
        ("", 2.0, "", "r2"),
    ]


def test_empty_fields_are_omitted(catalog):
    document = read(catalog(review_rows=[]), "b2")
    assert document.page_content == "# Bar Nord\n\n## Facts\n\n- kinds: bar\n- town: Bath"
    data = document.metadata["place"]
    assert (data["rating"], data["ratings"], data["latitude"]) == (None, 0, None)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_places_are_the_same_in_all_file_formats(catalog, suffix):
    reviews = {"file": f"reviews.{suffix}", "place": "cafe", "text": "body", "rating": "stars"}
    reviews |= {"id": "id", "date": "on", "group": "by"}
    loader = catalog(places=f"cafes.{suffix}", reviews=reviews)
    document = read(loader, "a1")
    assert document.page_content == LINDEN
    assert document.metadata["place"] == place(catalog(), "a1")


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet"])
def test_reviews_may_be_nested_in_the_rows_of_places(catalog, suffix):
    inner = [{"body": "Lovely cake."}, {"body": "Too loud."}]
    cell = json.dumps(inner) if suffix == "csv" else inner
    loader = catalog(
        cafes=[{"id": "a1", "name": "Café Linden", "comments": cell}],
        places=f"cafes.{suffix}",
        reviews={"column": "comments", "text": "body"},
        **dict.fromkeys(("text", "facts", "types", "rating", "location", "filters")),
    )
    document = read(loader, "a1")
    spans = [
        document.page_content[start:end] for start, end, *_ in document.metadata["place"]["reviews"]
    ]
    assert spans == ["Lovely cake.", "Too loud."]


def test_a_place_without_a_rating_gets_the_mean_of_its_reviews(catalog):
    document = read(catalog(rating=None), "a1")
    assert "- rating: 3.5/5" in document.page_content
    assert document.metadata["place"]["rating"] == 3.5
    assert document.metadata["place"]["ratings"] == 2
    assert place(catalog(), "b2")["rating"] == 4.0


def test_the_number_of_ratings_is_read_from_a_column(catalog):
    loader = catalog(
        cafes=cafes_with(0, votes=1200), rating={"column": "stars", "count": "votes", "scale": 10}
    )
    document = read(loader, "a1")
    assert "- stars: 4.5/10\n- votes: 1200" in document.page_content
    assert document.metadata["place"]["ratings"] == 1200


def test_a_rating_without_text_counts_but_has_no_section(catalog):
    reviews = [*REVIEWS, {"id": "r4", "cafe": "b2", "stars": 1}]
    document = read(catalog(review_rows=reviews), "b2")
    assert document.page_content.count("###") == 1
    assert (document.metadata["place"]["rating"], document.metadata["place"]["ratings"]) == (2.5, 2)


def test_a_version_depends_on_the_row_its_reviews_and_the_meaning_of_columns(catalog):
    def version(**changes):
        return refs(catalog(**changes))["a1"].version

    same = version()
    assert version(cafes=cafes_with(0, unused="x")) == same
    assert version(cafes=cafes_with(1, name="Bar Süd")) == same
    assert (
        version(catalog="Coffee", filters={"city": {"column": "town", "words": {"Bath": {}}}})
        == same
    )
    others = [
        version(cafes=cafes_with(0, name="Café Linde")),
        version(review_rows=REVIEWS[:1]),
        version(facts=["street", "town"]),
        version(rating={"column": "stars", "scale": 10}),
    ]
    assert len({same, *others}) == 5


class WordJudge(ReviewJudge):
    """Counts each review with a word of an aspect as praise of that aspect."""

    version = 1

    def __init__(self, aspects):
        self.words = {aspect.name: aspect.good.get("en", ()) for aspect in aspects}

    def judge(self, text, reviews):
        quotes = {
            name: tuple(
                Quote(text[review.start : review.end], review.start, review.end)
                for review in reviews
                if any(word in text[review.start : review.end] for word in words)
            )
            for name, words in self.words.items()
        }
        praise = {name: spans for name, spans in quotes.items() if spans}
        return ReviewFindings(
            {name: (len(spans), 0) for name, spans in praise.items()},
            [
                Pattern(name, "", True, len(spans), len(reviews), spans)
                for name, spans in praise.items()
            ],
        )


class NewerJudge(WordJudge):
    version = 2


COSY = {"cosiness": {"good": {"en": ["Lovely", "too *loud*"]}}}


def test_the_counts_of_the_judge_are_stored_with_a_place(tmp_path):
    reviews = [REVIEWS[0], REVIEWS[1] | {"body": "too *loud*"}, *REVIEWS[2:]]
    path = write_catalog(tmp_path / "cafes", review_rows=reviews, aspects=COSY)
    loader = CatalogPlaces(path, judge=WordJudge)
    assert place(loader, "a1")["aspects"] == {"cosiness": [2, 0]}
    assert place(loader, "b2")["aspects"] == {}


def test_the_patterns_of_the_judge_are_stored_with_their_quotes(tmp_path):
    path = write_catalog(tmp_path / "cafes", aspects=COSY)
    loader = CatalogPlaces(path, judge=WordJudge)
    document = read(loader, "a1")
    [[aspect, group, praises, count, reviews, quotes]] = document.metadata["place"]["patterns"]
    assert (aspect, group, praises, count, reviews) == ("cosiness", "", True, len(quotes), 2)
    for quote, start, end in quotes:
        assert document.page_content[start:end] == quote
    assert place(loader, "b2")["patterns"] == []


def test_a_version_depends_on_the_words_of_aspects_and_the_version_of_the_judge(tmp_path):
    def version(judge=WordJudge, aspects=COSY):
        path = write_catalog(tmp_path / "cafes", aspects=aspects)
        return refs(CatalogPlaces(path, judge=judge))["a1"].version

    assert version() == version()
    others = [
        version(judge=NewerJudge),
        version(aspects={"cosiness": {"good": {"en": ["Lovely"]}}}),
        version(aspects=COSY | {"food": {}}),
        version(aspects=None),
    ]
    assert len({version(), *others}) == 5


def test_documents_have_the_version_of_the_listing(catalog):
    loader = catalog()
    ref = refs(loader)["a1"]
    assert loader.read(ref).metadata["version"] == ref.version


def test_places_are_read_without_a_listing_and_the_data_only_once(catalog, tmp_path):
    ref = refs(catalog())["a1"]
    loader = catalog()
    first = loader.read(ref)
    (tmp_path / "cafes" / "cafes.jsonl").unlink()
    assert loader.read(ref) == first


def test_a_deleted_place_is_unreadable(catalog):
    with pytest.raises(UnreadableError, match=r"cafes\.jsonl no longer contains the place z9"):
        catalog().read(DocumentRef("z9", "", ""))


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"stars": float("nan")}, f"line 2: stars: NaN is not a number from 0 to 5{ADVICE}"),
        ({"stars": 5.1}, f"line 2: stars: 5.1 is not a number from 0 to 5{ADVICE}"),
        ({"stars": -1}, f"line 2: stars: -1 is not a number from 0 to 5{ADVICE}"),
        ({"stars": float("inf")}, f"line 2: stars: inf is not a number from 0 to 5{ADVICE}"),
        ({"stars": "good"}, f"line 2: stars: good is not a number from 0 to 5{ADVICE}"),
        ({"stars": True}, f"line 2: stars: true is not a number from 0 to 5{ADVICE}"),
        ({"lat": 91, "lon": 0}, f"line 2: lat: 91 is not a number from -90 to 90{ADVICE}"),
        ({"lat": 1, "lon": 200}, f"line 2: lon: 200 is not a number from -180 to 180{ADVICE}"),
        ({"lat": 1}, "line 2: lon is empty, but lat is not"),
        ({"name": " "}, "line 2: name is empty"),
    ],
)
def test_only_rows_with_invalid_values_are_skipped(catalog, values, reason):
    loader = catalog(cafes=cafes_with(1, **values))
    assert skipped(loader) == {"b2": f"cafes.jsonl, {reason}"}
    assert list(refs(loader)) == ["a1"]
    with pytest.raises(UnreadableError):
        loader.read(DocumentRef("b2", "", ""))


def test_nan_in_a_parquet_file_is_reported_with_its_row(catalog):
    loader = catalog(cafes=cafes_with(0, stars=float("nan")), places="cafes.parquet")
    assert skipped(loader) == {
        "a1": f"cafes.parquet, row 1: stars: NaN is not a number from 0 to 5{ADVICE}"
    }


def test_a_blank_cell_is_not_a_rating(catalog):
    document = read(catalog(cafes=cafes_with(1, stars=" "), places="cafes.csv"), "b2")
    assert document.metadata["place"]["rating"] == 4.0  # of its review


def test_of_two_rows_with_the_same_id_the_first_counts_and_both_are_reported(catalog):
    loader = catalog(cafes=[*CAFES, {"id": "a1", "name": "Copy"}])
    assert skipped(loader) == {
        "a1": "cafes.jsonl, line 3: id: a1 is already the id of cafes.jsonl, line 1:"
        " change one of them"
    }
    assert read(loader, "a1").metadata["title"] == "Café Linden"


def test_of_two_rows_with_the_same_id_the_one_imported_before_stays(catalog):
    copy = {"id": "a1", "name": "Copy"}
    previous = PreviousImport({"a1": refs(catalog())["a1"]})
    loader = catalog(cafes=[copy, *CAFES])
    ref = refs(loader, previous)["a1"]
    assert (ref.version, ref.title) == (previous.documents["a1"].version, "Café Linden")
    assert loader.read(ref).metadata["title"] == "Café Linden"


def test_removals_are_uncertain_if_a_row_has_no_id(catalog):
    previous = PreviousImport(refs(catalog()))
    entries = list(catalog(cafes=cafes_with(1, id="")).list(previous))
    assert [entry.key for entry in entries if isinstance(entry, DocumentRef)] == ["a1"]
    assert [entry.reason for entry in entries if isinstance(entry, Skipped)] == [
        "cafes.jsonl, line 2: id is empty",
        "reviews of missing places: 1; the first is reviews.jsonl, line 3: cafe: b2",
    ]
    removals = [entry for entry in entries if isinstance(entry, Removed)]
    assert [(entry.key, entry.is_certain) for entry in removals] == [("b2", False)]


def test_reviews_of_missing_places_are_counted(catalog):
    loader = catalog(review_rows=[*REVIEWS, {"cafe": "zz", "body": "?"}, {"body": "??"}])
    assert list(refs(loader)) == ["a1", "b2"]
    assert skipped(loader) == {
        "reviews.jsonl": "reviews of missing places: 2;"
        " the first is reviews.jsonl, line 4: cafe: zz"
    }


@pytest.mark.parametrize(
    ("review", "warning"),
    [
        ({"body": "Fine", "stars": 7}, f"stars: 7 is not a number from 0 to 5{ADVICE}"),
        (
            {"body": "Fine", "stars": float("nan")},
            f"stars: NaN is not a number from 0 to 5{ADVICE}",
        ),
        ({"body": " "}, "body is empty"),
        ({"body": "Again", "id": "r3"}, "id: duplicate value r3"),
    ],
)
def test_invalid_reviews_are_skipped_with_a_warning(catalog, review, warning):
    document = read(catalog(review_rows=[*REVIEWS, {"cafe": "b2"} | review]), "b2")
    assert document.metadata["warnings"] == [
        f"reviews.jsonl, line 4: {warning}: the review is skipped"
    ]
    assert len(document.metadata["place"]["reviews"]) == 1


def test_the_number_of_warnings_is_limited(catalog):
    document = read(catalog(review_rows=[*REVIEWS, *[{"cafe": "b2", "body": ""}] * 50]), "b2")
    assert len(document.metadata["warnings"]) == 11
    assert document.metadata["warnings"][-1] == "more reviews skipped for similar reasons: 40"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"rating": {"column": "score"}},
            r"^rating\.column: cafes\.jsonl has no column 'score'; its columns are id, name",
        ),
        ({"id": "key"}, r"^id: cafes\.jsonl has no column 'key'"),
        ({"text": ["about", "more"]}, r"^text: cafes\.jsonl has no column 'more'"),
        (
            {"filters": {"city": {"column": "c"}}},
            r"^filters\.city\.column: cafes\.jsonl has no column 'c'",
        ),
        (
            {"reviews": {"file": "reviews.csv", "place": "cafe", "text": "t"}},
            r"^reviews\.text: reviews\.csv has no column 't'; its columns are id, cafe",
        ),
        ({"cafes": []}, r"^places: cafes\.jsonl contains no places"),
    ],
)
def test_a_missing_column_is_reported_with_its_field_and_nothing_is_listed(
    catalog, changes, message
):
    with pytest.raises(SourceError, match=message):
        next(catalog(**changes).list())


def test_a_missing_column_of_nested_reviews_is_reported(catalog):
    cafes = cafes_with(0, comments=[{"body": "Nice."}])
    with pytest.raises(
        SourceError,
        match=r"^reviews\.text: comments of cafes\.jsonl has no column 'txt'; its columns are body",
    ):
        next(catalog(cafes=cafes, reviews={"column": "comments", "text": "txt"}).list())


def test_a_place_without_a_list_of_reviews_is_skipped(catalog):
    cafes = cafes_with(0, comments="none")
    loader = catalog(cafes=cafes, reviews={"column": "comments", "text": "body"})
    assert skipped(loader) == {"a1": "cafes.jsonl, line 1: comments must be a list of objects"}


def test_missing_files_are_named(catalog, tmp_path):
    loader = catalog()
    (tmp_path / "cafes" / "reviews.jsonl").unlink()
    with pytest.raises(SourceError, match=r"reviews\.jsonl can't be opened: No such file"):
        next(loader.list())


@pytest.mark.parametrize("file", ["a\0.jsonl", "a" * 5000 + ".jsonl", "loop.jsonl"])
def test_impossible_file_names_are_reported(catalog, tmp_path, file):
    loader = catalog()
    path = tmp_path / "cafes" / "catalog.yaml"
    description = yaml.safe_load(path.read_text(encoding="utf-8"))
    path.write_text(yaml.safe_dump(description | {"places": file}), encoding="utf-8")
    (tmp_path / "cafes" / "loop.jsonl").symlink_to("loop.jsonl")
    with pytest.raises(SourceError, match=f"^places: '{file[:1]}.*' can't be opened"):
        next(loader.list())


def test_links_that_leave_the_folder_are_rejected(catalog, tmp_path):
    loader = catalog()
    data = tmp_path / "cafes" / "cafes.jsonl"
    data.rename(tmp_path / "elsewhere.jsonl")
    data.symlink_to(tmp_path / "elsewhere.jsonl")
    with pytest.raises(SourceError, match=r"^places: cafes\.jsonl is a link to a file outside"):
        next(loader.list())


def test_the_description_is_listed_last(catalog):
    *_, last = catalog().list()
    assert isinstance(last, NewOptions)
    assert last.values["description"]["catalog"] == "Cafés"


def test_each_review_is_in_a_separate_passage(catalog):
    document = read(catalog(), "a1")
    passages = split(document.page_content, document_id="d", version="v")
    for start, end, *_ in document.metadata["place"]["reviews"]:
        assert sum(passage.start <= start and end <= passage.end for passage in passages) == 1
