"""Copied libraries equal those into which the handbook is imported."""

import pytest

from domain import LOCAL_USER, Outcome
from tests.imported_library import HANDBOOK

QUESTION = "annual leave of new employees"


@pytest.mark.parametrize("embed", [False, True])
def test_an_import_into_a_copied_library_changes_nothing(imported, handbook, embed):
    services = imported(embed=embed)
    report = services.directories.import_directory(LOCAL_USER, handbook)
    outcomes = {item.key: item.outcome for item in report.items}
    assert outcomes == dict.fromkeys(HANDBOOK, Outcome.UNCHANGED)
    assert services.maintenance.check(LOCAL_USER).agrees


@pytest.mark.parametrize("embed", [False, True])
def test_a_copied_library_finds_the_files_of_its_test(imported, handbook, embed):
    passages = imported(embed=embed).search.search(LOCAL_USER, QUESTION, k=4)
    locations = {passage.metadata["location"] for passage in passages}
    assert locations <= {str(handbook / name) for name in HANDBOOK}
    assert str(handbook / "leave.md") in locations


def test_changed_files_are_imported(imported, handbook):
    (handbook / "parking.md").write_text("# Parking\n\nPark behind the house.\n")
    assert imported(embed=True).library.documents.count() == len(HANDBOOK) + 1
