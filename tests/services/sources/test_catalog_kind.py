"""Catalogs as sources: testing, adding, importing, and updating them."""

import os
from pathlib import Path

import pytest

from domain import LOCAL_USER, Outcome
from domain.errors import SourceError
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
    def add(**changes):
        fields = {"path": str(write(**changes))}
        return services.sources.add(LOCAL_USER, KIND, fields, SourceSettings()).source

    return add


def import_all(services, source):
    """Import the source, and return the outcome and reason of each document by its key."""
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


def test_a_test_reads_every_place_and_stores_nothing(services, write):
    cafes = [*CAFES, {"id": "c3", "name": "C", "stars": 9}]
    result = services.sources.test(LOCAL_USER, KIND, {"path": str(write(cafes=cafes))})
    assert (result.documents, result.titles, result.is_all) == (
        2,
        ("Café Linden", "Bar Nord"),
        True,
    )
    assert [one.key for one in result.skipped] == ["c3"]
    assert services.sources.list(LOCAL_USER) == []


def test_a_catalog_has_the_name_in_its_description(services, add):
    source = add()
    assert (source.kind, source.name) == (KIND, "Cafés")
    assert source.options["description"]["places"] == "cafes.jsonl"
    kind = services.source_kinds.get(KIND)
    assert kind.field_values(source) == {"path": source.location}


def test_a_catalog_cannot_be_added_twice(add):
    add()
    with pytest.raises(SameSourceError, match="is already a source: Cafés"):
        add()


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("", "description is missing"),
        ("catalog.yaml", "not an absolute path"),
        ("{folder}/nowhere.yaml", "does not exist"),
        ("{folder}/a\0b.yaml", "does not exist"),
        ("{folder}/cafes", "can't be opened"),
        ("{folder}/data/catalog.yaml", "is in Footnote's data folder"),
    ],
)
def test_a_path_without_a_readable_description_is_rejected(
    services, write, tmp_path, path, message
):
    write()
    write_catalog(tmp_path / "data")
    with pytest.raises(SourceError, match=message):
        services.sources.add(
            LOCAL_USER, KIND, {"path": path.format(folder=tmp_path)}, SourceSettings()
        )
    assert services.sources.list(LOCAL_USER) == []


def test_a_link_to_a_folder_with_an_invalid_utf_8_name_is_rejected(services, tmp_path):
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    link = tmp_path / "link.yaml"
    link.symlink_to(write_catalog(odd))
    with pytest.raises(SourceError, match="is not valid UTF-8: rename it"):
        services.sources.add(LOCAL_USER, KIND, {"path": str(link)}, SourceSettings())
    assert services.sources.list(LOCAL_USER) == []


def test_the_error_for_an_inaccessible_description_asks_for_permission(
    services, unprivileged_folder
):
    path = write_catalog(unprivileged_folder / "cafes")
    path.parent.chmod(0)
    with pytest.raises(SourceError, match="grant read permission to the user who runs Footnote"):
        services.source_kinds.get(KIND).check(LOCAL_USER, {"path": str(path)})


def test_catalog_data_in_the_data_folder_is_rejected(services, tmp_path):
    write_catalog(tmp_path / "data")
    outside = tmp_path / "catalog.yaml"
    description = (tmp_path / "data" / "catalog.yaml").read_text(encoding="utf-8")
    outside.write_text(description.replace("cafes.jsonl", "data/cafes.jsonl"), encoding="utf-8")
    with pytest.raises(SourceError, match=r"cafes\.jsonl is in Footnote's data folder"):
        services.sources.test(LOCAL_USER, KIND, {"path": str(outside)})


def test_an_invalid_column_is_rejected_and_nothing_is_stored(services, add):
    with pytest.raises(SourceError, match=r"rating\.column: cafes\.jsonl has no column 'score'"):
        add(rating={"column": "score"})
    assert services.sources.list(LOCAL_USER) == []


def test_the_error_for_a_catalog_without_valid_places_explains_the_first(add):
    with pytest.raises(SourceError, match="line 1: stars: 9 is not a number from 0 to 5"):
        add(cafes=[CAFES[0] | {"stars": 9}])


def test_each_place_becomes_a_document(services, add):
    source = add()
    assert {key: outcome for key, (outcome, _) in import_all(services, source).items()} == {
        "a1": Outcome.NEW,
        "b2": Outcome.NEW,
    }
    assert status(services, source).figures.documents == 2
    assert {key: outcome for key, (outcome, _) in import_all(services, source).items()} == {
        "a1": Outcome.UNCHANGED,
        "b2": Outcome.UNCHANGED,
    }


def test_only_changed_places_are_imported_again(services, add, write):
    source = add()
    import_all(services, source)
    write(review_rows=[*REVIEWS, {"cafe": "b2", "body": "Nice staff."}])
    assert {key: outcome for key, (outcome, _) in import_all(services, source).items()} == {
        "a1": Outcome.UNCHANGED,
        "b2": Outcome.CHANGED,
    }
    write(cafes=CAFES[:1], review_rows=REVIEWS[:2])
    assert import_all(services, source)["b2"][0] is Outcome.REMOVED


def test_a_place_with_an_invalid_value_keeps_its_earlier_version(services, add, write):
    source = add()
    import_all(services, source)
    write(cafes=[CAFES[0] | {"stars": float("nan")}, CAFES[1]])
    outcome, reason = import_all(services, source)["a1"]
    assert outcome is Outcome.FAILED
    assert "stars: NaN is not a number from 0 to 5" in reason
    assert status(services, source).figures.documents == 2


def test_an_import_stores_the_current_description(services, add, write):
    source = add()
    import_all(services, source)
    words = {"Bath": {"ko": ["배스"]}}
    write(filters={"city": {"column": "town", "words": words}})
    assert {outcome for outcome, _ in import_all(services, source).values()} == {Outcome.UNCHANGED}
    stored = status(services, source).source
    assert stored.options["description"]["filters"]["city"]["words"] == words
    assert (stored.name, stored.refresh_s) == (source.name, source.refresh_s)


def test_a_changed_aspect_is_counted_again_in_every_place(services, add, write):
    def aspects_of(name):
        return services.catalog.place(LOCAL_USER, name).place.aspects

    source = add(aspects={"cake": {"good": {"en": ["lovely cake"]}}})
    import_all(services, source)
    assert (aspects_of("a1"), aspects_of("b2")) == ({"cake": (1, 0)}, {})
    write(aspects={"cake": {"good": {"en": ["lovely cake"]}}, "beer": {"good": {"en": ["beer"]}}})
    assert {outcome for outcome, _ in import_all(services, source).values()} == {Outcome.CHANGED}
    assert aspects_of("b2") == {"beer": (1, 0)}


def test_a_description_that_does_not_match_the_data_changes_nothing(services, add, write):
    source = add()
    import_all(services, source)
    write(rating={"column": "score"})
    job = services.sources.refresh(LOCAL_USER, source.id)
    work(services)
    message = services.import_reports.summary(LOCAL_USER, job.id).run.message
    assert "rating.column: cafes.jsonl has no column 'score'" in message
    assert status(services, source).source.options == source.options
    assert status(services, source).figures.documents == 2


def test_a_dry_run_predicts_the_import(services, add):
    job = services.sources.dry_run(LOCAL_USER, add().id)
    assert {outcome for outcome, _ in outcomes(services, job).values()} == {Outcome.NEW}


def test_a_dry_run_does_not_store_a_new_description(services, add, write):
    source = add()
    import_all(services, source)
    write(text=None, filters={"place": {"column": "town"}})
    job = services.sources.dry_run(LOCAL_USER, source.id)
    assert {outcome for outcome, _ in outcomes(services, job).values()} == {Outcome.CHANGED}
    assert status(services, source).source.options == source.options
    import_all(services, source)
    description = status(services, source).source.options["description"]
    assert description["filters"] == {"place": {"column": "town"}}


def test_a_duplicate_id_is_reported_and_replaces_no_place(services, add, write):
    source = add()
    import_all(services, source)
    write(cafes=[{"id": "a1", "name": "Copy"}, *CAFES])
    job = services.sources.refresh(LOCAL_USER, source.id)
    work(services)
    items = services.import_reports.items(LOCAL_USER, job.id, limit=9)
    assert sorted((item.key, item.outcome) for item in items) == [
        ("a1", Outcome.FAILED),
        ("a1", Outcome.UNCHANGED),
        ("b2", Outcome.UNCHANGED),
    ]
