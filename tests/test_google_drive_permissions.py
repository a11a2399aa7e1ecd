"""Files of Google Drive are found by those who may find them there, through search and chat."""

import json
from dataclasses import replace

import pytest

from domain import LOCAL_USER, ImportState, Outcome, Principal
from services.sources.secret_service import new_key
from services.sources.source_service import SourceSettings
from tests.fakes.google_drive import IMPORTER, PERSON, FakeDrive
from tests.fakes.google_drive_items import Grant
from tests.finders import SECRET, Finders

KIM = Principal("kim", email=PERSON)
LEE = Principal("lee", email="Lee@example.org")
HR = Principal("hana", frozenset(["hr@example.org"]), email="hana@elsewhere.example")
VISITOR = Principal("visitor")
EVERYONE = (KIM, LEE, HR, VISITOR)


class SharedFolder(Finders):
    """A folder in My Drive with one file, and a library that mirrors its permissions."""

    def __init__(self, services, fake):
        super().__init__(services, EVERYONE)
        self.fake = fake
        self.folder = fake.folder("Company")
        fake.let_edit(self.folder)
        self.file = fake.upload("bonus.txt", SECRET, self.folder)
        self.fields = {"scope": "folders", "folders": [self.folder.id]}
        self.source = None

    def load(self):
        if self.source is None:
            key = json.dumps(self.fake.service_account())
            login = {"login": "service_account", "service_account": key}
            fields = {**login, **self.fields, "mirror_permissions": True}
            self.source = self.services.sources.add(
                LOCAL_USER, "google_drive", fields, SourceSettings()
            ).source
        run = self.services.sources.refresh(LOCAL_USER, self.source.id)
        return self.services.worker.wait(LOCAL_USER, run.id)

    def permission_calls(self):
        return self.fake.calls()["files/ID/permissions"]


@pytest.fixture
def fake():
    with FakeDrive() as fake:
        yield fake
        assert fake.refused == []


@pytest.fixture
def drive(fake, build_services):
    services = build_services(embed=True, encryption_key=new_key(), google_api_url=fake.origin)
    return SharedFolder(services, fake)


def test_a_file_is_found_by_its_owner_only_unless_it_is_shared(drive):
    assert drive.load().state is ImportState.COMPLETED
    assert drive.finders() == {"kim"}


def test_a_file_is_found_by_the_people_and_groups_with_whom_it_or_its_folder_is_shared(drive):
    drive.fake.share(drive.file, "lee@example.org")
    drive.fake.grant(drive.folder, Grant("group", "HR@example.org"))
    drive.load()
    assert drive.finders() == {"kim", "lee", "hana"}


def test_a_group_counts_by_its_address_and_not_by_a_name_that_anyone_can_choose(drive):
    drive.fake.grant(drive.file, Grant("group", "hr@example.org"))
    drive.load()
    assert not drive.finds(replace(VISITOR, groups=frozenset(["hr"])))
    assert drive.finds(replace(VISITOR, groups=frozenset(["hr@example.org"])))


def test_a_revoked_share_counts_for_the_next_question_and_reads_no_file(drive):
    drive.fake.share(drive.file, "lee@example.org")
    drive.load()
    assert drive.finders() == {"kim", "lee"}
    drive.fake.unshare(drive.file, "lee@example.org")
    before = drive.fake.calls()["files/ID"]
    run = drive.load()
    assert run.counts == {Outcome.PERMISSIONS: 1}
    assert drive.fake.calls()["files/ID"] - before <= 2  # the folder and the one above it
    assert drive.finders() == {"kim"}


def test_a_folder_that_is_shared_with_others_changes_the_files_below_it(drive):
    inner = drive.fake.folder("Inner", drive.folder)
    drive.fake.move(drive.file, inner)
    drive.load()
    assert drive.finders() == {"kim"}
    drive.fake.share(drive.folder, "lee@example.org")
    drive.load()
    assert drive.finders() == {"kim", "lee"}


def test_a_file_that_moves_gets_the_permissions_of_its_new_folder(drive):
    closed = drive.fake.folder("Board", drive.folder)
    opened = drive.fake.folder("Everyone", drive.folder)
    drive.fake.grant(opened, Grant("anyone"))
    drive.fake.move(drive.file, opened)
    drive.load()
    assert drive.finders() == {"kim", "lee", "hana", "visitor"}
    drive.fake.move(drive.file, closed)
    drive.load()
    assert drive.finders() == {"kim"}


@pytest.mark.parametrize(
    ("grant", "finders"),
    [
        (Grant("anyone"), {"kim", "lee", "hana", "visitor"}),
        (Grant("anyone", is_by_link=True), {"kim"}),
        (Grant("domain", "Example.org"), {"kim", "lee"}),
        (Grant("domain", "example.org", is_by_link=True), {"kim"}),
        (Grant("user", "lee@example.org", is_deleted=True), {"kim"}),
        (Grant("group", "hr@example.org", is_deleted=True), {"kim"}),
    ],
)
def test_a_link_makes_a_file_findable_only_if_drive_s_own_search_finds_it(drive, grant, finders):
    drive.fake.grant(drive.file, grant)
    drive.load()
    assert drive.finders() == finders


def test_the_target_of_a_shortcut_keeps_its_own_permissions(drive):
    elsewhere = drive.fake.upload("elsewhere.txt", SECRET)
    drive.fake.let_edit(elsewhere)
    drive.fake.trash(drive.file)
    drive.fake.shortcut(elsewhere, drive.folder)
    drive.fake.share(drive.folder, "lee@example.org")
    drive.load()
    assert drive.finders() == {"kim"}
    drive.fake.share(elsewhere, "lee@example.org")
    drive.load()
    assert drive.finders() == {"kim", "lee"}


def test_permissions_that_cannot_be_read_hide_the_file_and_the_report_says_so(drive):
    drive.fake.share(drive.folder, "lee@example.org")
    drive.load()
    assert drive.finders() == {"kim", "lee"}
    drive.folder.editors.clear()  # the importer is only a viewer now
    run = drive.load()
    assert run.state is ImportState.COMPLETED_WITH_ERRORS
    assert run.message == "1 are hidden, because their permissions could not be read"
    [item] = drive.services.import_reports.items(LOCAL_USER, run.id, limit=9)
    assert item.outcome is Outcome.PERMISSIONS
    assert "let this account edit or manage the folder or shared drive" in item.reason
    assert drive.finders() == set()
    assert drive.finds(LOCAL_USER)


def test_everyone_finds_the_files_without_the_option(drive):
    drive.load()
    drive.services.sources.edit(
        LOCAL_USER, drive.source.id, {"mirror_permissions": False}, SourceSettings(name="Drive")
    )
    drive.load()
    assert drive.finders() == {"kim", "lee", "hana", "visitor"}


@pytest.fixture
def shared_drive(drive):
    """A shared drive instead of the folder."""
    drive.root = drive.fake.shared_drive("Company", members=(IMPORTER, "lee@example.org"))
    drive.file = drive.fake.upload("bonus.txt", SECRET, drive.root)
    drive.fields = {"scope": "drives", "drives": [drive.root.id]}
    return drive


def test_a_file_in_a_shared_drive_is_found_by_its_members_and_by_those_it_is_shared_with(
    shared_drive,
):
    shared_drive.load()
    assert shared_drive.finders() == {"lee"}
    shared_drive.fake.share(shared_drive.file, PERSON)
    shared_drive.fake.remove_member(shared_drive.root, "lee@example.org")
    shared_drive.load()
    assert shared_drive.finders() == {"kim"}


def test_permissions_in_a_shared_drive_take_a_request_per_person_rather_than_per_file(
    shared_drive,
):
    for number in range(40):
        shared_drive.fake.upload(f"{number}.txt", f"file {number}", shared_drive.root)
    shared_drive.fake.share(shared_drive.file, PERSON)
    shared_drive.load()
    assert shared_drive.finders() == {"kim", "lee"}
    before = shared_drive.permission_calls()
    shared_drive.load()
    assert shared_drive.permission_calls() - before <= 2


def test_a_shared_drive_that_hides_permissions_is_not_asked_for_every_file(shared_drive):
    for number in range(40):
        file = shared_drive.fake.upload(f"{number}.txt", f"file {number}", shared_drive.root)
        shared_drive.fake.hide_permissions(file)
    shared_drive.fake.hide_permissions(shared_drive.file)
    run = shared_drive.load()
    assert run.message == "41 are hidden, because their permissions could not be read"
    assert shared_drive.finders() == set()
    before = shared_drive.permission_calls()
    shared_drive.load()
    assert shared_drive.permission_calls() - before == 20
