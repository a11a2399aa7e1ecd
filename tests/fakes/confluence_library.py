"""A library that imports from the fake Confluence with the real services."""

from collections.abc import Callable
from pathlib import Path

from domain import ImportReport, ImportState
from loaders.confluence.confluence_content import ContentVersion
from loaders.confluence.confluence_loader import ConfluenceLoader
from loaders.confluence.confluence_selection import ConfluenceSelection
from storage.ledger.document_store import StoredVersion
from tests.fakes.confluence import FakeConfluence
from tests.fakes.confluence_content import Visible
from tests.fakes.library import Library
from tests.fakes.loopback import LoggedRequest
from tests.loaders.confluence.reading import client_of


class ConfluenceLibrary:
    """Imports the selected content; `waits` are the (seconds, reason) pairs from the loader.

    `confirm` is the user's answer to a removal confirmation.
    """

    def __init__(
        self, fake: FakeConfluence, data_dir: Path, selection: ConfluenceSelection
    ) -> None:
        self.fake, self.selection = fake, selection
        self.library = Library(data_dir)
        self.waits: list[tuple[float, str]] = []
        self.confirm: Callable[[], bool] = lambda: True
        self.source = self.library.sources.ensure("confluence", fake.url, name="Wiki")

    def load(self) -> tuple[ImportReport, list[LoggedRequest]]:
        """Import, confirming removals if needed; returns the report and the requests."""
        before = len(self.fake.requests)
        report = self._run(confirm_removals=False)
        if report.state is ImportState.NEEDS_CONFIRMATION and self.confirm():
            before = len(self.fake.requests)
            report = self._run(confirm_removals=True)
        return report, self.fake.requests[before:]

    def _run(self, *, confirm_removals: bool) -> ImportReport:
        source = self.library.sources.get(self.source.id)
        return self.library.load(self.loader(), source=source, confirm_removals=confirm_removals)

    def loader(self) -> ConfluenceLoader:
        return ConfluenceLoader(client_of(self.fake, self.waits), self.selection)

    def pages(self) -> dict[str, Visible]:
        """Pages and posts in the library by id, in the form of `Contents.visible`."""
        return {key: self._page(known) for key, known in self._known(files=False).items()}

    def files(self) -> dict[str, tuple[int, str]]:
        """Version and text of the attachments in the library, by id."""
        return {
            key: (ContentVersion.parse(known.version).number, self._text(known))
            for key, known in self._known(files=True).items()
        }

    def _known(self, *, files: bool) -> dict[str, StoredVersion]:
        known = self.library.documents.versions(self.source.id)
        return {key: one for key, one in known.items() if key.startswith("att") == files}

    def _page(self, known: StoredVersion) -> Visible:
        """Each page in the tests is one paragraph."""
        stored = self.library.documents.get(known.document_id)
        version, details = ContentVersion.parse(stored.version), stored.details
        assert details["page_version"] == version.number
        return Visible(
            version.number,
            stored.title,
            tuple(details["ancestors"]),
            details["space"],
            f"<p>{self._text(known)}</p>",
            tuple(details["labels"]),
        )

    def _text(self, known: StoredVersion) -> str:
        return self.library.documents.text(known.document_id)
