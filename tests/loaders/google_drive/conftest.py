import json

import pytest

from domain import Before, DocumentRef, Gone, Mark, Skipped
from loaders.google_drive.files import DriveFiles
from loaders.google_drive.login import DriveLogin
from loaders.google_drive.wanted import DriveWanted
from tests.fakes.google_drive import FakeDrive
from tests.fakes.google_drive_wire import ApiError


class Importer:
    """Imports from the fake as the program does, with what imports leave kept in mind."""

    def __init__(self, drive, *, max_bytes=2**20):
        self.drive, self.max_bytes = drive, max_bytes
        self.waits = []
        self.login = DriveLogin.of("service_account", json.dumps(drive.service_account()))
        self.before = Before()
        self.texts = {}
        self.listed = []

    def files(self, scope="folders", types=(), **wanted):
        """The loader of these items, which may also be told by their addresses."""
        ids = {name: [getattr(item, "id", item) for item in wanted[name]] for name in wanted}
        told = DriveWanted.of(scope, types=types, **ids)
        return DriveFiles(
            self.login, told, self.wait, api_url=self.drive.url, max_bytes=self.max_bytes
        )

    def wait(self, seconds, reason):
        self.waits.append((seconds, reason))

    def sync(self, files):
        """One import: the keys of what was read, and the calls that it took."""
        self.drive.requests.clear()
        self.listed = list(files.list(self.before))
        refs = {one.key: one for one in self.listed if isinstance(one, DocumentRef)}
        kept = {one.key for one in self.listed if isinstance(one, Skipped)}
        known = {
            key: ref for key, ref in self.before.documents.items() if key in refs.keys() | kept
        }
        changed = [key for key, ref in refs.items() if known.get(key) != ref]
        for key in changed:
            document = files.read(refs[key])
            version = document.metadata["version"]
            known[key] = DocumentRef(key, version, refs[key].location)
            self.texts[key] = document.page_content
        self.texts = {key: text for key, text in self.texts.items() if key in known}
        self.before = Before(known, {}, json.loads(json.dumps(dict(self.mark))))
        return set(changed)

    @property
    def mark(self):
        [mark] = [one for one in self.listed if isinstance(one, Mark)]
        assert self.listed[-1] is mark
        return mark.values

    @property
    def gone(self):
        return {one.key: one.reason for one in self.listed if isinstance(one, Gone)}

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
