"""Folders that hold what may not be looked at: the rest is imported, and nothing is lost."""

import pytest

from domain import LOCAL_USER, ImportState, Outcome
from services.sources.source_service import SourceSettings
from tests.fakes.permissions import enforced_permissions
from tests.loaders.catalog.catalogs import write_catalog

NOTICE = "the version imported earlier stays in use"


@pytest.fixture
def services(build_services):
    return build_services(embed=True)


@pytest.fixture
def private(tmp_path):
    """A folder outside of the handbook, to be forbidden."""
    folder = tmp_path / "private"
    folder.mkdir()
    (folder / "secret.md").write_text("Nobody's business.")
    yield folder
    folder.chmod(0o700)


def imported(services, folder):
    with enforced_permissions():
        return services.directories.import_directory(LOCAL_USER, folder, confirm_removals=True)


def fates(report):
    return {item.key: item.outcome for item in report.items}


def test_links_below_a_forbidden_folder_leave_an_import_completed_with_errors(
    services, handbook, private
):
    for name in ("secret.md", "nothing.md"):
        (handbook / name).symlink_to(private / name)
    (handbook / "folder").symlink_to(private / "folder")
    (handbook / "private").symlink_to(private)
    private.chmod(0)
    report = imported(services, handbook)
    assert report.state is ImportState.COMPLETED_WITH_ERRORS
    assert report.count(Outcome.NEW) == 4
    reasons = {item.key: item.reason for item in report.items if item.outcome is Outcome.FAILED}
    named = ("secret.md", "nothing.md", "folder")
    outside = "a link to a location outside the imported folder"
    denied = "it can't be opened: Permission denied"
    assert reasons == {"private/": outside, **dict.fromkeys(named, denied)}


def test_a_link_whose_target_was_forbidden_keeps_its_document(services, handbook):
    (handbook / ".store").mkdir()
    (handbook / ".store" / "old.md").write_text("The old handbook is in the cellar.")
    (handbook / "linked.md").symlink_to(".store/old.md")
    assert fates(imported(services, handbook))["linked.md"] is Outcome.NEW
    (handbook / ".store").chmod(0)
    report = imported(services, handbook)
    assert fates(report)["linked.md"] is Outcome.FAILED
    [reason] = [item.reason for item in report.items if item.key == "linked.md"]
    assert reason == f"it can't be opened: Permission denied ({NOTICE})"
    [hit] = services.search.search(LOCAL_USER, "cellar", mode="bm25")
    assert hit.metadata["key"] == "linked.md"
    (handbook / ".store").chmod(0o700)
    assert fates(imported(services, handbook))["linked.md"] is Outcome.UNCHANGED


def test_a_folder_that_became_a_link_to_what_is_forbidden_keeps_its_documents(
    services, handbook, private
):
    (handbook / "rules").mkdir()
    (handbook / "rules" / "lunch.md").write_text("Lunch is at noon.")
    imported(services, handbook)
    (handbook / "rules").rename(private / "rules")
    (handbook / "rules").symlink_to(private / "rules")
    private.chmod(0)
    report = imported(services, handbook)
    assert fates(report)["rules"] is Outcome.FAILED
    assert fates(report)["rules/lunch.md"] is Outcome.RETAINED
    assert report.count(Outcome.REMOVED) == 0
    assert services.search.search(LOCAL_USER, "noon", mode="bm25")


@pytest.mark.parametrize("mode", [0, 0o400, 0o100])
def test_a_forbidden_folder_and_file_keep_their_documents(services, handbook, mode):
    (handbook / "rules").mkdir()
    (handbook / "rules" / "lunch.md").write_text("Lunch is at noon.")
    imported(services, handbook)
    (handbook / "rules").chmod(mode)
    (handbook / "vpn.md").chmod(0)
    report = imported(services, handbook)
    (handbook / "rules").chmod(0o700)
    assert report.state is ImportState.COMPLETED_WITH_ERRORS
    assert report.count(Outcome.REMOVED) == 0
    assert fates(report)["vpn.md"] is Outcome.FAILED
    assert fates(report)["rules/lunch.md"] in (Outcome.RETAINED, Outcome.FAILED)
    assert services.search.search(LOCAL_USER, "noon", mode="bm25")


def test_a_catalog_that_was_forbidden_fails_with_its_path_and_keeps_its_places(services, tmp_path):
    description = write_catalog(tmp_path / "cafes")
    given = {"path": str(description)}
    source = services.sources.add(LOCAL_USER, "catalogue", given, SourceSettings()).source
    services.sources.refresh(LOCAL_USER, source.id)
    assert services.worker.run_next()
    places = services.library.status(LOCAL_USER).documents
    description.parent.chmod(0)
    with enforced_permissions():
        services.sources.refresh(LOCAL_USER, source.id)
        services.worker.run_next()
    description.parent.chmod(0o700)
    last = services.sources.get(LOCAL_USER, source.id).last
    assert last.state is ImportState.FAILED
    assert last.message.startswith(f"{description} can't be opened: Permission denied")
    assert services.library.status(LOCAL_USER).documents == places > 0
