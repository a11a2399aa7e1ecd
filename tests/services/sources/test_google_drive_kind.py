"""Google Drive as a source: tested, kept with its secret encrypted, changed, imported."""

import json
import logging

import pytest

from domain import LOCAL_USER, ImportState
from errors import SourceError
from services.sources import remote_kind
from services.sources.secret_service import new_key
from services.sources.source_kinds import SameSourceError
from services.sources.source_service import SourceSettings
from tests.fakes.faults import Fault, Faults
from tests.fakes.google_drive import IMPORTER, FakeDrive


@pytest.fixture
def drive():
    with FakeDrive() as drive:
        drive.handbook = drive.folder("Handbook")
        drive.share(drive.handbook)
        drive.leave = drive.doc("Leave", "# Leave\n\n25 days a year.", drive.handbook)
        drive.upload("vpn.md", b"# VPN\n\nChoose Bristol.", drive.handbook)
        drive.private = drive.folder("Private")
        yield drive
        assert drive.refused == []


@pytest.fixture
def key(drive):
    return json.dumps(drive.service_account())


@pytest.fixture
def services(build_services, drive):
    return build_services(embed=True, encryption_key=new_key(), google_api_url=drive.origin)


@pytest.fixture
def given(drive, key):
    def given(**more):
        folder = f"https://drive.google.com/drive/folders/{drive.handbook.id}?usp=sharing"
        login = {"login": "service_account", "service_account": key}
        return login | {"scope": "folders", "folders": [folder]} | more

    return given


def check(services, given):
    return services.sources.test(LOCAL_USER, "google_drive", given)


def add(services, given):
    return services.sources.add(LOCAL_USER, "google_drive", given, SourceSettings()).source


def work(services, source):
    job = services.sources.refresh(LOCAL_USER, source.id)
    return services.worker.wait(LOCAL_USER, job.id)


def test_a_test_reports_the_account_and_the_documents(services, given):
    seen = check(services, given())
    assert (seen.documents, set(seen.titles)) == (2, {"Leave", "vpn.md"})
    assert IMPORTER in seen.notes[0]
    assert seen.notes[1] == "This account sees: Handbook."
    assert services.sources.list(LOCAL_USER) == []


def test_a_folder_is_imported_with_the_key_it_was_added_with(
    services, given, drive, key, tmp_path, caplog
):
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.DEBUG, "footnote")
    source = add(services, given())
    assert source.name == "Handbook"
    assert source.location == f"Google Drive · {drive.handbook.id}"
    assert work(services, source).state is ImportState.COMPLETED
    assert services.sources.get(LOCAL_USER, source.id).figures.documents == 2
    private = json.loads(key)["private_key"].splitlines()[1]
    services.parts.database.close()
    stored = b"".join(one.read_bytes() for one in (tmp_path / "data").glob("footnote.db*"))
    assert private.encode() not in stored
    assert private not in caplog.text + repr(source)


def test_the_key_may_be_in_a_file_that_a_variable_names(
    build_services, drive, given, key, tmp_path, monkeypatch
):
    (tmp_path / "key.json").write_text(key)
    monkeypatch.setenv("FOOTNOTE_SECRET_DRIVE", str(tmp_path / "key.json"))
    services = build_services(embed=True, google_api_url=f"{drive.origin}/")
    source = add(services, given(service_account="$FOOTNOTE_SECRET_DRIVE"))
    assert work(services, source).state is ImportState.COMPLETED


def test_what_is_not_shared_is_named_and_with_whom_to_share_it(services, given, drive):
    both = f"{drive.handbook.id}\n{drive.private.id}"
    with pytest.raises(SourceError, match=f"{drive.private.id}.*share it with {IMPORTER}"):
        check(services, given(folders=both))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"folders": []}, "Enter what to import"),
        ({"folders": "here"}, "neither an address of Google Drive nor an id"),
        ({"folders": "0123456789abcdef"}, f"share it with {IMPORTER}"),
        ({"service_account": ""}, "key of the service account is missing"),
        ({"service_account": "{}"}, "lacks client_email, private_key"),
        ({"service_account": "/etc/hostname"}, "lacks client_email"),
        ({"login": "oauth"}, "google-login"),
        ({"types": "gdoc, word"}, "read files of type word"),
        ({"types": "pdf"}, "nothing to import"),
    ],
)
def test_invalid_settings_are_rejected_and_nothing_is_stored(services, given, options, message):
    with pytest.raises(SourceError, match=message):
        add(services, given(**options))
    assert services.sources.list(LOCAL_USER) == []


def test_the_same_folder_is_one_source_however_it_is_written(services, given, drive):
    source = add(services, given())
    with pytest.raises(SameSourceError) as caught:
        add(services, given(folders=drive.handbook.id))
    assert caught.value.source.id == source.id


def test_its_types_can_be_changed_without_the_key(services, given):
    source = add(services, given())
    work(services, source)
    before = dict(services.source_kinds.get("google_drive").field_values(source))
    assert before["service_account"] == ""
    job = services.sources.edit(
        LOCAL_USER, source.id, before | {"types": ".GDOC"}, SourceSettings()
    )
    services.worker.wait(LOCAL_USER, job.id)
    assert services.sources.get(LOCAL_USER, source.id).figures.documents == 1


def test_single_files_and_shared_drives_have_their_names(services, given, drive):
    file = add(services, given(scope="files", files=drive.leave.id))
    assert (file.name, file.location) == ("Leave", f"Google Drive · {drive.leave.id}")
    shared = drive.shared_drive("Team")
    drive.doc("Plan", "# Plan", shared)
    team = add(services, given(scope="drives", drives=shared.id))
    assert (team.name, work(services, team).state) == ("Team", ImportState.COMPLETED)


def test_a_file_that_is_gone_keeps_nobody_from_giving_another_key(services, given, drive):
    memo = drive.doc("Memo", "# Memo")
    drive.share(memo)
    asked = given(scope="files", files=[drive.leave.id, memo.id])
    source = add(services, asked)
    drive.unshare(memo)
    [warning] = check(services, asked).warnings
    assert f"{memo.id} is not visible" in warning
    job = services.sources.edit(LOCAL_USER, source.id, asked, SourceSettings())
    assert job is None, "nothing else is imported for that"
    drive.unshare(drive.handbook)
    with pytest.raises(SourceError, match=f"{drive.leave.id} is not visible.*{memo.id}"):
        check(services, asked)


def test_a_test_limits_its_waits_for_the_server(services, given, drive, monkeypatch):
    monkeypatch.setattr(remote_kind, "_MAX_WAIT_S", 0.5)
    drive.faults = Faults(1, share=1.0, kinds=(Fault.UNAVAILABLE,), in_a_row=99)
    with pytest.raises(SourceError, match="Try again in"):
        check(services, given())


def test_the_own_drive_of_an_account_is_a_place_of_its_own(services, given, drive):
    drive.doc("Note", "# Note")
    person = json.dumps(drive.people.authorized_user())
    login = {"login": "oauth", "oauth_token": person}
    mine = given(folders="https://drive.google.com/drive/my-drive", **login)
    source = add(services, mine)
    assert "root" not in source.location
    assert work(services, source).state is ImportState.COMPLETED
