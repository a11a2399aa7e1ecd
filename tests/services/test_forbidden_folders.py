"""Folders without read permission: the rest is imported, and no document is removed."""

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
    """A folder outside of the handbook, to which tests deny access."""
    folder = tmp_path / "private"
    folder.mkdir()
    (folder / "secret.md").write_text("Nobody's business.")
    yield folder
    folder.chmod(0o700)


def import_folder(services, folder):
    with enforced_permissions():
        return services.directories.import_directory(LOCAL_USER, folder, confirm_removals=True)


def outcomes(report):
    return {item.key: item.outcome for item in report.items}


def test_links_into_an_inaccessible_folder_complete_an_import_with_errors(
    services, handbook, private
):
    for name in ("secret.md", "nothing.md"):
        (handbook / name).symlink_to(private / name)
    (handbook / "folder").symlink_to(private / "folder")
    (handbook / "private").symlink_to(private)
    private.chmod(0)
    report = import_folder(services, handbook)
    assert report.state is ImportState.COMPLETED_WITH_ERRORS
    assert report.count(Outcome.NEW) == 4
    reasons = {item.key: item.reason for item in report.items if item.outcome is Outcome.FAILED}
    denied_names = ("secret.md", "nothing.md", "folder")
    outside = "a link to a location outside the imported folder"
    denied = "it can't be opened: Permission denied"
    assert reasons == {"private/": outside, **dict.fromkeys(denied_names, denied)}


def test_a_link_whose_target_became_inaccessible_keeps_its_document(services, handbook):
    (handbook / ".store").mkdir()
    (handbook / ".store" / "old.md").write_text("The old handbook is in the cellar.")
    (handbook / "linked.md").symlink_to(".store/old.md")
    assert outcomes(import_folder(services, handbook))["linked.md"] is Outcome.NEW
    (handbook / ".store").chmod(0)
    report = import_folder(services, handbook)
    assert outcomes(report)["linked.md"] is Outcome.FAILED
    [reason] = [item.reason for item in report.items if item.key == "linked.md"]
    assert reason == f"it can't be opened: Permission denied ({NOTICE})"
    [hit] = services.search.search(LOCAL_USER, "cellar", mode="bm25")
    assert hit.metadata["key"] == "linked.md"
    (handbook / ".store").chmod(0o700)
    assert outcomes(import_folder(services, handbook))["linked.md"] is Outcome.UNCHANGED


def test_a_folder_replaced_by_an_inaccessible_link_keeps_its_documents(services, handbook, private):
    (handbook / "rules").mkdir()
    (handbook / "rules" / "lunch.md").write_text("Lunch is at noon.")
    import_folder(services, handbook)
    (handbook / "rules").rename(private / "rules")
    (handbook / "rules").symlink_to(private / "rules")
    private.chmod(0)
    report = import_folder(services, handbook)
    assert outcomes(report)["rules"] is Outcome.FAILED
    assert outcomes(report)["rules/lunch.md"] is Outcome.RETAINED
    assert report.count(Outcome.REMOVED) == 0
    assert services.search.search(LOCAL_USER, "noon", mode="bm25")


@pytest.mark.parametrize("mode", [0, 0o400, 0o100])
def test_an_inaccessible_folder_and_file_keep_their_documents(services, handbook, mode):
    (handbook / "rules").mkdir()
    (handbook / "rules" / "lunch.md").write_text("Lunch is at noon.")
    import_folder(services, handbook)
    (handbook / "rules").chmod(mode)
    (handbook / "vpn.md").chmod(0)
    report = import_folder(services, handbook)
    (handbook / "rules").chmod(0o700)
    assert report.state is ImportState.COMPLETED_WITH_ERRORS
    assert report.count(Outcome.REMOVED) == 0
    assert outcomes(report)["vpn.md"] is Outcome.FAILED
    assert outcomes(report)["rules/lunch.md"] in (Outcome.RETAINED, Outcome.FAILED)
    assert services.search.search(LOCAL_USER, "noon", mode="bm25")


def test_an_inaccessible_catalog_fails_with_its_path_and_keeps_its_places(services, tmp_path):
    description = write_catalog(tmp_path / "cafes")
    fields = {"path": str(description)}
    source = services.sources.add(LOCAL_USER, "catalogue", fields, SourceSettings()).source
    services.sources.refresh(LOCAL_USER, source.id)
    assert services.worker.run_next()
    places = services.sources.get(LOCAL_USER, source.id).figures.documents
    description.parent.chmod(0)
    with enforced_permissions():
        services.sources.refresh(LOCAL_USER, source.id)
        services.worker.run_next()
    description.parent.chmod(0o700)
    last = services.sources.get(LOCAL_USER, source.id).last
    assert last.state is ImportState.FAILED
    assert last.message.startswith(f"{description} can't be opened: Permission denied")
    assert services.sources.get(LOCAL_USER, source.id).figures.documents == places > 0
