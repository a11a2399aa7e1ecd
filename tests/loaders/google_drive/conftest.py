import json

import pytest

from domain import Cursor, DocumentRef, PreviousImport, Removed, Skipped
from loaders.google_drive.drive_login import DriveLogin
from loaders.google_drive.drive_selection import DriveSelection
from loaders.google_drive.google_drive_loader import GoogleDriveLoader
from tests.fakes.google_drive import FakeDrive
from tests.fakes.google_drive_wire import ApiError


class Importer:
    """Imports from the fake as the program does, with what imports leave kept in mind."""

    def __init__(self, drive, *, max_bytes=2**20):
        self.drive, self.max_bytes = drive, max_bytes
        self.waits = []
        self.login = DriveLogin.of("service_account", json.dumps(drive.service_account()))
        self.previous = PreviousImport()
        self.texts = {}
        self.listed = []

    def files(self, scope="folders", types=(), **wanted):
        """The loader of these items, which may also be told by their addresses."""
        ids = {name: [getattr(item, "id", item) for item in wanted[name]] for name in wanted}
        told = DriveSelection.of(scope, types=types, **ids)
        return GoogleDriveLoader(
            self.login, told, self.wait, api_url=self.drive.url, max_bytes=self.max_bytes
        )

    def wait(self, seconds, reason):
        self.waits.append((seconds, reason))

    def sync(self, files):
        """One import: the keys of what was read, and the calls that it took."""
        self.drive.requests.clear()
        self.listed = list(files.list(self.previous))
        refs = {one.key: one for one in self.listed if isinstance(one, DocumentRef)}
        kept = {one.key for one in self.listed if isinstance(one, Skipped)}
        known = {
            key: ref for key, ref in self.previous.documents.items() if key in refs.keys() | kept
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
        [cursor] = [one for one in self.listed if isinstance(one, Cursor)]
        assert self.listed[-1] is cursor
        return cursor.values

    @property
    def gone(self):
        return {one.key: one.reason for one in self.listed if isinstance(one, Removed)}

    @property
    def skipped(self):
        return {one.key: one.reason for one in self.listed if isinstance(one, Skipped)}


def refuse(drive, status, reason, *, on="", times=10**6, message="Not today."):
    """Let the fake answer so whatever is asked at a path that ends with `on`."""
    answer, left = drive.answer, [times]

    def refusing(request):
        if request.path == "/token" or not request.path.endswith(on) or not left[0]:
            return answer(request)
        left[0] -= 1
        return ApiError(status, reason, message).answer()

    drive.answer = refusing


@pytest.fixture
def drive():
    """A Drive on loopback; at the end nothing may have been asked that Drive does not know."""
    with FakeDrive() as fake:
        yield fake
    assert fake.refused == []


@pytest.fixture
def importer(drive):
    return Importer(drive)


@pytest.fixture
def team(drive):
    """A folder that is shared with the importer."""
    folder = drive.folder("Team")
    drive.share(folder)
    return folder
