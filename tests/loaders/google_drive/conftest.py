import json

import pytest

from domain import Cursor, DocumentRef, PreviousImport, Removed, Skipped
from loaders.google_drive.drive_login import DriveLogin
from loaders.google_drive.drive_selection import DriveSelection
from loaders.google_drive.google_drive_loader import GoogleDriveLoader
from tests.fakes.google_drive import FakeDrive
from tests.fakes.google_drive_wire import ApiError


class Importer:
    """Imports from the fake as Footnote does, and keeps what the next import needs."""

    def __init__(self, drive, *, max_bytes=2**20):
        self.drive, self.max_bytes = drive, max_bytes
        self.waits = []
        self.login = DriveLogin.of("service_account", json.dumps(drive.service_account()))
        self.previous = PreviousImport()
        self.texts = {}
        self.entries = []

    def files(self, scope="folders", types=(), **items):
        """The loader of these items, which may be fakes or addresses."""
        ids = {name: [getattr(item, "id", item) for item in items[name]] for name in items}
        selection = DriveSelection.of(scope, types=types, **ids)
        return GoogleDriveLoader(
            self.login, selection, self.wait, api_url=self.drive.url, max_bytes=self.max_bytes
        )

    def wait(self, seconds, reason):
        self.waits.append((seconds, reason))

    def sync(self, files):
        """Run one import and return the keys of the documents that it read."""
        self.drive.requests.clear()
        self.entries = list(files.list(self.previous))
        refs = {entry.key: entry for entry in self.entries if isinstance(entry, DocumentRef)}
        skipped = {entry.key for entry in self.entries if isinstance(entry, Skipped)}
        known = {
            key: ref for key, ref in self.previous.documents.items() if key in refs.keys() | skipped
        }
        changed = [key for key, ref in refs.items() if known.get(key) != ref]
        for key in changed:
            document = files.read(refs[key])
            version = document.metadata["version"]
            known[key] = DocumentRef(key, version, refs[key].location)
            self.texts[key] = document.page_content
        self.texts = {key: text for key, text in self.texts.items() if key in known}
        self.previous = PreviousImport(known, {}, json.loads(json.dumps(dict(self.cursor))))
        return set(changed)

    @property
    def cursor(self):
        [cursor] = [entry for entry in self.entries if isinstance(entry, Cursor)]
        assert self.entries[-1] is cursor
        return cursor.values

    @property
    def removals(self):
        return {entry.key: entry.reason for entry in self.entries if isinstance(entry, Removed)}

    @property
    def skipped(self):
        return {entry.key: entry.reason for entry in self.entries if isinstance(entry, Skipped)}


def refuse(drive, status, reason, *, on="", times=10**6, message="Not today."):
    """Make the fake answer requests to paths that end with `on` with this error."""
    answer, left = drive.answer, [times]

    def answer_with_error(request):
        if request.path == "/token" or not request.path.endswith(on) or not left[0]:
            return answer(request)
        left[0] -= 1
        return ApiError(status, reason, message).answer()

    drive.answer = answer_with_error


@pytest.fixture
def drive():
    """A Drive on loopback; the test fails if the real Drive would not accept a request."""
    with FakeDrive() as drive:
        yield drive
    assert drive.refused == []


@pytest.fixture
def importer(drive):
    return Importer(drive)


@pytest.fixture
def team(drive):
    """A folder that is shared with the importer."""
    folder = drive.folder("Team")
    drive.share(folder)
    return folder
