"""A library that imports from the fake Google Drive with the real services."""

import json
from collections.abc import Callable
from pathlib import Path

from domain import NEVER_IMPORTED, DocumentRef, ImportReport, ImportState
from loaders.google_drive.drive_login import DriveLogin
from loaders.google_drive.drive_selection import DriveSelection
from loaders.google_drive.google_drive_loader import GoogleDriveLoader
from tests.fakes.google_drive import Doc, FakeDrive, Item
from tests.fakes.google_drive_items import stamp
from tests.fakes.google_drive_people_at_work import words
from tests.fakes.library import Library
from tests.fakes.loopback import LoggedRequest


class DriveLibrary:
    """Imports these folders; `waits` are the seconds that the loader asked to wait.

    `confirm` is the user's answer to a removal confirmation.
    """

    def __init__(self, fake: FakeDrive, data_dir: Path, *folders: Item) -> None:
        self.fake = fake
        self.library = Library(data_dir)
        self.waits: list[float] = []
        self.confirm: Callable[[], bool] = lambda: True
        ids = [folder.id for folder in folders]
        self._selection = DriveSelection.of("folders", folders=ids)
        self._source = self.library.sources.ensure("google_drive", " ".join(ids), name="Drive")
        self._login = DriveLogin.of("service_account", json.dumps(fake.service_account()))

    def load(self) -> tuple[ImportReport, list[LoggedRequest]]:
        """Import, confirming removals if needed; returns the report and the requests."""
        before = len(self.fake.requests)
        report = self._run(confirm_removals=False)
        if report.state is ImportState.NEEDS_CONFIRMATION and self.confirm():
            report = self._run(confirm_removals=True)
        return report, [one for one in self.fake.requests[before:] if one.path != "/token"]

    def _run(self, *, confirm_removals: bool) -> ImportReport:
        source = self.library.sources.get(self._source.id)
        return self.library.load(self._loader(), source=source, confirm_removals=confirm_removals)

    def _loader(self) -> GoogleDriveLoader:
        def wait(seconds: float, reason: str) -> None:
            self.waits.append(seconds)

        return GoogleDriveLoader(self._login, self._selection, wait, api_url=self.fake.url)

    def logs(self) -> int:
        """The number of change logs that an import without changes reads."""
        return len(self.library.sources.get(self._source.id).cursor["tokens"])

    def versions(self) -> dict[str, str]:
        """Versions in the library, by id."""
        known = self.library.documents.versions(self._source.id)
        return {key: one.version for key, one in known.items()}

    def full_listing(self) -> dict[str, str]:
        """Versions in a new full listing, by id."""
        listed = self._loader().list(NEVER_IMPORTED)
        return {one.key: one.version for one in listed if isinstance(one, DocumentRef)}

    def differences(self, expected: dict[str, Item]) -> list[tuple[str, str]]:
        """Names of items that differ from the Drive, and the kind of each difference."""
        known = self.library.documents.versions(self._source.id)
        names = {key: item.name for key, item in self.fake.items.items()}
        mismatches = [(names.get(key, key), "missing") for key in expected.keys() - known.keys()]
        mismatches += [
            (names.get(key, key), "unexpected") for key in known.keys() - expected.keys()
        ]
        for key in expected.keys() & known.keys():
            stored = self.library.documents.get(known[key].document_id)
            text = self.library.documents.text(stored.id)
            mismatches += [
                (names[key], difference) for difference in _differences(stored, text, expected[key])
            ]
        return mismatches


def _differences(stored, text: str, item: Item) -> list[str]:
    content = item.content.markdown if isinstance(item.content, Doc) else item.content
    exact = content.decode() if isinstance(content, bytes) else content
    checks = {
        "another version": stored.version.startswith(f"{item.md5 or stamp(item.modified)}/"),
        "another title": stored.title == item.name,
        "another text": not isinstance(exact, str) or text == exact.rstrip(),
        "other words": words(text.encode()) == words(item.content),
    }
    return [difference for difference, is_right in checks.items() if not is_right]
