"""Google Drive as a source: testing, adding with a secret, editing, and importing it."""

import json
import logging
from pathlib import Path

import pytest

from domain import LOCAL_USER, ImportState, Scope, SearchChoice
from domain.errors import SourceError
from services.library.reader_service import saved_view
from services.sources import remote_kind
from services.sources.secret_service import new_key
from services.sources.source_kinds import SameSourceError
from services.sources.source_service import SourceSettings
from tests.fakes.faults import Fault, Faults
from tests.fakes.google_drive import IMPORTER, FakeDrive

SAMPLE = Path(__file__).parents[3] / "samples" / "documents" / "security-handbook.pdf"


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
def fields(drive, key):
    def fields(**changes):
        folder = f"https://drive.google.com/drive/folders/{drive.handbook.id}?usp=sharing"
        login = {"login": "service_account", "service_account": key}
        return login | {"scope": "folders", "folders": [folder]} | changes

    return fields


def check(services, fields):
    return services.sources.test(LOCAL_USER, "google_drive", fields)


def add(services, fields):
    return services.sources.add(LOCAL_USER, "google_drive", fields, SourceSettings()).source


def work(services, source):
    job = services.sources.refresh(LOCAL_USER, source.id)
    return services.worker.wait(LOCAL_USER, job.id)


def test_a_test_reports_the_account_and_the_documents(services, fields):
    result = check(services, fields())
    assert (result.documents, set(result.titles)) == (2, {"Leave", "vpn.md"})
    assert IMPORTER in result.notes[0]
    assert result.notes[1] == "Visible to this account: Handbook."
    assert services.sources.list(LOCAL_USER) == []


def test_a_folder_is_imported_with_a_key_that_stays_secret(
    services, fields, drive, key, tmp_path, caplog
):
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.DEBUG, "footnote")
    source = add(services, fields())
    assert source.name == "Handbook"
    assert source.location == f"Google Drive · {drive.handbook.id}"
    assert work(services, source).state is ImportState.COMPLETED
    assert services.sources.get(LOCAL_USER, source.id).figures.documents == 2
    private = json.loads(key)["private_key"].splitlines()[1]
    services.parts.database.close()
    stored = b"".join(one.read_bytes() for one in (tmp_path / "data").glob("footnote.db*"))
    assert private.encode() not in stored
    assert private not in caplog.text + repr(source)


def test_an_answer_keeps_the_format_of_a_pdf_file_whose_location_is_an_address(
    services, fields, drive
):
    drive.upload("security.pdf", SAMPLE.read_bytes(), drive.handbook)
    assert work(services, add(services, fields())).state is ImportState.COMPLETED
    search = SearchChoice(Scope(formats=("pdf",)))
    turn = services.chat.ask(LOCAL_USER, "Which passwords are secure?", search=search)
    [stored] = services.turns.list(LOCAL_USER, turn.conversation_id)
    assert stored.sources
    for source in stored.sources:
        assert source.location.startswith("https://drive.google.com/file/")
        assert source.format == saved_view(stored, source, None, None).format == "pdf"


def test_the_key_can_be_in_a_file_named_by_an_environment_variable(
    build_services, drive, fields, key, tmp_path, monkeypatch
):
    (tmp_path / "key.json").write_text(key)
    monkeypatch.setenv("FOOTNOTE_SECRET_DRIVE", str(tmp_path / "key.json"))
    services = build_services(embed=True, google_api_url=f"{drive.origin}/")
    source = add(services, fields(service_account="$FOOTNOTE_SECRET_DRIVE"))
    assert work(services, source).state is ImportState.COMPLETED


def test_the_error_for_an_unshared_folder_names_it_and_the_account(services, fields, drive):
    both = f"{drive.handbook.id}\n{drive.private.id}"
    with pytest.raises(SourceError, match=f"{drive.private.id}.*share it with {IMPORTER}"):
        check(services, fields(folders=both))


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
def test_invalid_settings_are_rejected_and_nothing_is_stored(services, fields, options, message):
    with pytest.raises(SourceError, match=message):
        add(services, fields(**options))
    assert services.sources.list(LOCAL_USER) == []


def test_the_same_folder_given_by_its_id_is_the_same_source(services, fields, drive):
    source = add(services, fields())
    with pytest.raises(SameSourceError) as raised:
        add(services, fields(folders=drive.handbook.id))
    assert raised.value.source.id == source.id


def test_the_file_types_can_be_changed_without_the_key(services, fields):
    source = add(services, fields())
    work(services, source)
    before = dict(services.source_kinds.get("google_drive").field_values(source))
    assert before["service_account"] == ""
    job = services.sources.edit(
        LOCAL_USER, source.id, before | {"types": ".GDOC"}, SourceSettings()
    )
    services.worker.wait(LOCAL_USER, job.id)
    assert services.sources.get(LOCAL_USER, source.id).figures.documents == 1


def test_single_files_and_shared_drives_have_their_own_names(services, fields, drive):
    file = add(services, fields(scope="files", files=drive.leave.id))
    assert (file.name, file.location) == ("Leave", f"Google Drive · {drive.leave.id}")
    shared = drive.shared_drive("Team")
    drive.doc("Plan", "# Plan", shared)
    team = add(services, fields(scope="drives", drives=shared.id))
    assert (team.name, work(services, team).state) == ("Team", ImportState.COMPLETED)


def test_an_invisible_file_does_not_prevent_editing_the_source(services, fields, drive):
    memo = drive.doc("Memo", "# Memo")
    drive.share(memo)
    file_fields = fields(scope="files", files=[drive.leave.id, memo.id])
    source = add(services, file_fields)
    drive.unshare(memo)
    [warning] = check(services, file_fields).warnings
    assert f"{memo.id} is not visible" in warning
    job = services.sources.edit(LOCAL_USER, source.id, file_fields, SourceSettings())
    assert job is None, "no import is needed"
    drive.unshare(drive.handbook)
    with pytest.raises(SourceError, match=f"{drive.leave.id} is not visible.*{memo.id}"):
        check(services, file_fields)


def test_a_test_limits_its_waits_for_the_server(services, fields, drive, monkeypatch):
    monkeypatch.setattr(remote_kind, "_MAX_WAIT_S", 0.5)
    drive.faults = Faults(1, share=1.0, kinds=(Fault.UNAVAILABLE,), in_a_row=99)
    with pytest.raises(SourceError, match="Try again in"):
        check(services, fields())


def test_my_drive_of_an_account_has_its_own_location(services, fields, drive):
    drive.doc("Note", "# Note")
    token = json.dumps(drive.people.authorized_user())
    login = {"login": "oauth", "oauth_token": token}
    my_drive = fields(folders="https://drive.google.com/drive/my-drive", **login)
    source = add(services, my_drive)
    assert "root" not in source.location
    assert work(services, source).state is ImportState.COMPLETED
