"""Catalogs as sources: tested, added, imported, and kept in step with their files."""

import os
from pathlib import Path

import pytest

from domain import LOCAL_USER, Outcome
from errors import SourceError
from services.sources.source_kinds import SameSourceError
from services.sources.source_service import SourceSettings
from tests.loaders.catalog.catalogs import CAFES, REVIEWS, write_catalog

KIND = "catalogue"


@pytest.fixture
def services(build_services):
    return build_services(embed=True)


@pytest.fixture
def write(tmp_path):
    return lambda **changes: write_catalog(tmp_path / "cafes", **changes)


@pytest.fixture
def add(services, write):
    def added(**changes):
        given = {"path": str(write(**changes))}
        return services.sources.add(LOCAL_USER, KIND, given, SourceSettings()).source

    return added


def imported(services, source):
    """What an import of all did: the outcome and reason of each document, by key."""
    return outcomes(
        services, services.sources.refresh(LOCAL_USER, source.id, confirm_removals=True)
    )


def outcomes(services, job):
    work(services)
    items = services.import_reports.items(LOCAL_USER, job.id, limit=99)
    return {item.key: (item.outcome, item.reason) for item in items}


def work(services):
    while services.worker.run_next():
        pass


def status(services, source):
    return services.sources.get(LOCAL_USER, source.id)


def test_a_test_looks_at_every_place_and_keeps_nothing(services, write):
    cafes = [*CAFES, {"id": "c3", "name": "C", "stars": 9}]
    seen = services.sources.test(LOCAL_USER, KIND, {"path": str(write(cafes=cafes))})
    assert (seen.documents, seen.titles, seen.is_all) == (2, ("Café Linden", "Bar Nord"), True)
    assert [one.key for one in seen.skipped] == ["c3"]
    assert services.sources.list(LOCAL_USER) == []


def test_a_catalog_is_called_what_its_description_calls_it(services, add):
    source = add()
    assert (source.kind, source.name) == (KIND, "Cafés")
    assert source.options["description"]["places"] == "cafes.jsonl"
    kind = services.source_kinds.get(KIND)
    assert kind.field_values(source) == {"path": source.location}


def test_a_catalog_is_added_once(add):
    add()
    with pytest.raises(SameSourceError, match="is already a source: Cafés"):
        add()


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("", "description is missing"),
        ("catalog.yaml", "not an absolute path"),
        ("{folder}/nowhere.yaml", "does not exist"),
        ("{folder}/a\0b.yaml", "does not exist"),
        ("{folder}/cafes", "can't be opened"),
        ("{folder}/data/catalog.yaml", "is in Footnote's data folder"),
    ],
)
def test_a_path_that_is_no_description_is_refused(services, write, tmp_path, path, told):
    write()
    write_catalog(tmp_path / "data")
    with pytest.raises(SourceError, match=told):
        services.sources.add(
            LOCAL_USER, KIND, {"path": path.format(folder=tmp_path)}, SourceSettings()
        )
    assert services.sources.list(LOCAL_USER) == []


def test_a_link_to_a_folder_whose_name_is_no_utf_8_is_refused(services, tmp_path):
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    link = tmp_path / "link.yaml"
    link.symlink_to(write_catalog(odd))
    with pytest.raises(SourceError, match="is not valid UTF-8: rename it"):
        services.sources.add(LOCAL_USER, KIND, {"path": str(link)}, SourceSettings())
    assert services.sources.list(LOCAL_USER) == []


def test_a_description_that_may_not_be_read_is_not_called_missing(services, unprivileged_folder):
    path = write_catalog(unprivileged_folder / "cafes")
    path.parent.chmod(0)
    with pytest.raises(SourceError, match="grant read permission to the user who runs Footnote"):
        services.source_kinds.get(KIND).check(LOCAL_USER, {"path": str(path)})


def test_data_within_the_data_folder_is_refused(services, tmp_path):
    write_catalog(tmp_path / "data")
    outside = tmp_path / "catalog.yaml"
    told = (tmp_path / "data" / "catalog.yaml").read_text(encoding="utf-8")
    outside.write_text(told.replace("cafes.jsonl", "data/cafes.jsonl"), encoding="utf-8")
    with pytest.raises(SourceError, match=r"cafes\.jsonl is in Footnote's data folder"):
        services.sources.test(LOCAL_USER, KIND, {"path": str(outside)})


def test_an_invalid_column_is_rejected_and_nothing_is_stored(services, add):
    with pytest.raises(SourceError, match=r"rating\.column: cafes\.jsonl has no column 'score'"):
        add(rating={"column": "score"})
    assert services.sources.list(LOCAL_USER) == []


def test_a_catalog_without_a_good_place_says_what_is_wrong_with_the_first(add):
    with pytest.raises(SourceError, match="line 1: stars: 9 is not a number from 0 to 5"):
        add(cafes=[CAFES[0] | {"stars": 9}])


def test_places_become_documents_that_know_their_reviews(services, add):
    source = add()
    assert {key: outcome for key, (outcome, _) in imported(services, source).items()} == {
        "a1": Outcome.NEW,
        "b2": Outcome.NEW,
    }
    assert status(services, source).figures.documents == 2
    assert {key: outcome for key, (outcome, _) in imported(services, source).items()} == {
        "a1": Outcome.UNCHANGED,
        "b2": Outcome.UNCHANGED,
    }


def test_only_what_changed_is_imported_again(services, add, write):
    source = add()
    imported(services, source)
    write(review_rows=[*REVIEWS, {"cafe": "b2", "body": "Nice staff."}])
    assert {key: outcome for key, (outcome, _) in imported(services, source).items()} == {
        "a1": Outcome.UNCHANGED,
        "b2": Outcome.CHANGED,
    }
    write(cafes=CAFES[:1], review_rows=REVIEWS[:2])
    assert imported(services, source)["b2"][0] is Outcome.REMOVED


def test_a_place_with_a_wrong_value_keeps_its_earlier_version(services, add, write):
    source = add()
    imported(services, source)
    write(cafes=[CAFES[0] | {"stars": float("nan")}, CAFES[1]])
    outcome, reason = imported(services, source)["a1"]
    assert outcome is Outcome.FAILED
    assert "stars: NaN is not a number from 0 to 5" in reason
    assert status(services, source).figures.documents == 2


def test_an_import_keeps_what_the_description_says_by_then(services, add, write):
    source = add()
    imported(services, source)
    words = {"Bath": {"ko": ["배스"]}}
    write(filters={"city": {"column": "town", "words": words}})
    assert {outcome for outcome, _ in imported(services, source).values()} == {Outcome.UNCHANGED}
    kept = status(services, source).source
    assert kept.options["description"]["filters"]["city"]["words"] == words
    assert (kept.name, kept.refresh_s) == (source.name, source.refresh_s)


def test_other_words_for_an_aspect_are_counted_in_every_place_again(services, add, write):
    def judged(name):
        return services.catalog.place(LOCAL_USER, name).place.aspects

    source = add(aspects={"cake": {"good": {"en": ["lovely cake"]}}})
    imported(services, source)
    assert (judged("a1"), judged("b2")) == ({"cake": (1, 0)}, {})
    write(aspects={"cake": {"good": {"en": ["lovely cake"]}}, "beer": {"good": {"en": ["beer"]}}})
    assert {outcome for outcome, _ in imported(services, source).values()} == {Outcome.CHANGED}
    assert judged("b2") == {"beer": (1, 0)}


def test_a_description_that_does_not_fit_the_data_changes_nothing(services, add, write):
    source = add()
    imported(services, source)
    write(rating={"column": "score"})
    job = services.sources.refresh(LOCAL_USER, source.id)
    work(services)
    message = services.import_reports.summary(LOCAL_USER, job.id).run.message
    assert "rating.column: cafes.jsonl has no column 'score'" in message
    assert status(services, source).source.options == source.options
    assert status(services, source).figures.documents == 2


def test_a_dry_run_says_what_an_import_would_do(services, add):
    job = services.sources.dry_run(LOCAL_USER, add().id)
    assert {outcome for outcome, _ in outcomes(services, job).values()} == {Outcome.NEW}


def test_a_dry_run_keeps_nothing_of_a_new_description(services, add, write):
    source = add()
    imported(services, source)
    write(text=None, filters={"place": {"column": "town"}})
    job = services.sources.dry_run(LOCAL_USER, source.id)
    assert {outcome for outcome, _ in outcomes(services, job).values()} == {Outcome.CHANGED}
    assert status(services, source).source.options == source.options
    imported(services, source)
    kept = status(services, source).source.options["description"]
    assert kept["filters"] == {"place": {"column": "town"}}


def test_a_duplicate_id_is_reported_and_replaces_no_place(services, add, write):
    source = add()
    imported(services, source)
    write(cafes=[{"id": "a1", "name": "Copy"}, *CAFES])
    job = services.sources.refresh(LOCAL_USER, source.id)
    work(services)
    items = services.import_reports.items(LOCAL_USER, job.id, limit=9)
    assert sorted((item.key, item.outcome) for item in items) == [
        ("a1", Outcome.FAILED),
        ("a1", Outcome.UNCHANGED),
        ("b2", Outcome.UNCHANGED),
    ]
