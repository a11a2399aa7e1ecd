"""Failed requests to Drive, and the errors that users see."""

import json
import socket
import threading

import pytest

from domain import DocumentRef
from domain.errors import (
    SourceError,
    SourceUnavailableError,
    TemporarilyUnreadableError,
    UnreadableError,
)
from loaders.google_drive.drive_login import DriveLogin
from tests.fakes.faults import Fault, Faults
from tests.fakes.google_drive import DRIVE_FAULTS, DriveFault
from tests.loaders.google_drive.conftest import Importer, refuse


class StoppedError(Exception):
    """Raised where a user cancels the import during a wait."""


@pytest.fixture
def plan(drive, team):
    return drive.doc("Plan", "# Plan\n\nGrow", team)


def ref_of(item):
    return DocumentRef(item.id, "", "")


@pytest.mark.parametrize("fault", DRIVE_FAULTS)
def test_transient_faults_are_retried(drive, importer, team, plan, fault):
    drive.faults = Faults(1, share=1.0, kinds=[fault], in_a_row=2)
    assert importer.sync(importer.files(folders=[team])) == {plan.id}
    assert importer.texts == {plan.id: "# Plan\n\nGrow"}
    assert bool(importer.waits) == (fault is not Fault.SLOW)


def test_waits_grow_until_drive_counts_as_unavailable(drive, importer, team):
    drive.faults = Faults(1, share=1.0, kinds=[Fault.UNAVAILABLE], in_a_row=99)
    with pytest.raises(SourceUnavailableError, match="sign-in to Google|can't be reached"):
        importer.sync(importer.files(folders=[team]))
    seconds = [seconds for seconds, _ in importer.waits]
    assert len(seconds) == 5
    assert seconds[4] > seconds[0]
    assert sum(seconds) < 60


def test_retry_after_is_respected_but_long_waits_are_left_to_the_worker(drive, importer, team):
    fault = {"kinds": [Fault.TOO_MANY_RETRY_AFTER], "only": lambda request: "/drive/" in request}
    drive.faults = Faults(1, 1.0, in_a_row=1, retry_after=7, **fault)
    importer.sync(importer.files(folders=[team]))
    assert set(importer.waits) == {(7.0, "Google Drive asked to wait")}
    importer.waits.clear()
    drive.faults = Faults(1, 1.0, in_a_row=1, retry_after=9999, **fault)
    with pytest.raises(SourceUnavailableError, match="asked to wait: try again") as raised:
        importer.sync(importer.files(folders=[team]))
    assert (raised.value.retry_after_s, importer.waits) == (9999.0, [])


def test_the_import_can_be_canceled_during_a_wait(drive, importer, team):
    def stop(seconds, reason):
        raise StoppedError(reason)

    importer.wait = stop
    drive.faults = Faults(1, 1.0, [DriveFault.RATE], only=lambda request: "/files" in request)
    with pytest.raises(StoppedError, match="asked to wait"):
        importer.sync(importer.files(folders=[team]))


def test_a_refused_connection_makes_drive_unavailable(drive, importer, team):
    files = importer.files(folders=[team])
    drive.unplug()
    with pytest.raises(SourceUnavailableError, match="can't be reached"):
        importer.sync(files)
    drive.plug()
    assert importer.sync(files) == set()


def test_a_missing_response_times_out(drive, importer, team, monkeypatch):
    monkeypatch.setattr("loaders.google_drive.drive_calls.TIMEOUT", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as server:
        user = drive.people.authorized_user() | {
            "token_uri": f"http://127.0.0.1:{server.getsockname()[1]}/"
        }
        importer.login = DriveLogin.of("oauth", json.dumps(user))
        with pytest.raises(SourceUnavailableError, match="can't be reached"):
            importer.sync(importer.files(folders=[team]))
    assert len(importer.waits) == 5


def test_a_login_page_instead_of_responses_makes_drive_unavailable(drive, importer, team):
    only = {"only": lambda request: "/drive/" in request}
    drive.faults = Faults(1, 1.0, [Fault.LOGIN_PAGE], in_a_row=99, **only)
    with pytest.raises(SourceUnavailableError, match="response was malformed"):
        importer.sync(importer.files(folders=[team]))


def test_a_login_page_is_never_imported_as_a_document(drive, importer, team, plan):
    paper = drive.upload("paper.md", "# Paper", team)
    files = importer.files(folders=[team])
    only = {"only": lambda request: "alt=media" in request}
    drive.faults = Faults(1, 1.0, [Fault.LOGIN_PAGE], in_a_row=99, **only)
    for item in (plan, paper):
        with pytest.raises(TemporarilyUnreadableError):
            files.read(ref_of(item))


def test_one_failing_document_is_named_and_retried_later(drive, importer, team, plan):
    only = {"only": lambda request: "export" in request}
    drive.faults = Faults(1, 1.0, [Fault.FAILED], in_a_row=99, **only)
    with pytest.raises(
        TemporarilyUnreadableError, match="^Plan can't be read: Google Drive returned 500"
    ):
        importer.files(folders=[team]).read(ref_of(plan))


def test_if_all_requests_fail_drive_counts_as_unavailable(drive, importer, plan, team):
    files = importer.files(folders=[team])
    list(files.list())
    drive.unplug()
    with pytest.raises(SourceUnavailableError):
        files.read(ref_of(plan))


@pytest.mark.parametrize(
    ("status", "reason", "message"),
    [
        (403, "accessNotConfigured", "not enabled in this account's project"),
        (403, "insufficientPermissions", "scope drive.readonly"),
        (401, "authError", "Google rejected the service account's key"),
        (403, "domainPolicy", "403 domainPolicy.*Not today"),
        (400, "invalid", "400 invalid"),
    ],
)
def test_errors_that_users_must_fix_are_reported_at_once(
    drive, importer, team, status, reason, message
):
    refuse(drive, status, reason)
    with pytest.raises(SourceError, match=message) as raised:
        importer.sync(importer.files(folders=[team]))
    assert not raised.value.retryable
    assert importer.waits == []


def test_an_exhausted_daily_quota_makes_drive_unavailable(drive, importer, team):
    refuse(drive, 403, "dailyLimitExceeded")
    with pytest.raises(SourceUnavailableError, match="used up"):
        importer.sync(importer.files(folders=[team]))
    assert importer.waits == []


@pytest.mark.parametrize("reason", ["fileNotDownloadable", "insufficientFilePermissions"])
def test_a_document_without_download_permission_is_not_retried(drive, importer, team, plan, reason):
    refuse(drive, 403, reason, on="/export")
    with pytest.raises(UnreadableError, match="does not let this account") as raised:
        importer.files(folders=[team]).read(ref_of(plan))
    assert not raised.value.retryable


def test_an_expired_token_is_renewed_without_waiting(drive, importer, team, plan):
    files = importer.files(folders=[team])
    files.connection()
    drive.people.expire_access()
    assert importer.sync(files) == {plan.id}
    assert drive.calls()["/token"] == 1
    assert importer.waits == []


def test_the_error_for_a_revoked_key_says_what_to_do(drive, importer, team):
    drive.people.revoke(importer.login.email)
    with pytest.raises(SourceError, match="Create a new key") as raised:
        importer.sync(importer.files(folders=[team]))
    assert not raised.value.retryable


def test_each_thread_has_a_separate_client(drive, importer, team, plan):
    files, texts = importer.files(folders=[team]), []

    def read():
        texts.append(files.read(ref_of(plan)).page_content)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert texts == ["# Plan\n\nGrow"] * 4
    assert drive.calls()["/token"] == 4


def test_files_are_downloaded_in_parts_and_truncated_parts_again(
    drive, importer, team, monkeypatch
):
    monkeypatch.setattr("loaders.google_drive.drive_calls._PART", 1000)
    text = "# Long\n\n" + "word " * 2000 + "end"
    paper = drive.upload("long.md", text, team)
    drive.faults = Faults(3, 0.5, [Fault.TRUNCATED, Fault.CLOSED, Fault.FAILED])
    document = importer.files(folders=[team]).read(ref_of(paper))
    assert document.page_content == text
    assert drive.calls()["files/ID"] > 10


def test_a_file_that_does_not_match_its_checksum_is_rejected(drive, importer, team):
    paper = drive.upload("paper.md", "# Paper", team)
    resource = type(paper).resource
    try:
        type(paper).resource = lambda self, account: resource(self, account) | {"md5Checksum": "0"}
        with pytest.raises(TemporarilyUnreadableError, match="it is incomplete"):
            importer.files(folders=[team]).read(ref_of(paper))
    finally:
        type(paper).resource = resource


def test_a_file_that_grew_beyond_the_limit_is_rejected(drive, team):
    paper = drive.upload("paper.md", "x" * 5000, team)
    with pytest.raises(UnreadableError, match=r"larger than the limit of 0\.0 MiB"):
        Importer(drive, max_bytes=1000).files(folders=[team]).read(ref_of(paper))
