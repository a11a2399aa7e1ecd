"""A library that imports from the fake Confluence as the product does."""

from collections.abc import Callable
from pathlib import Path

from domain import ImportReport, ImportState
from loaders.confluence.pages import ConfluencePages
from loaders.confluence.versions import ContentVersion
from loaders.confluence.wanted import Wanted
from storage.documents import KnownVersion
from tests.fakes.confluence import FakeConfluence
from tests.fakes.confluence_content import Visible
from tests.fakes.library import Library
from tests.fakes.loopback import Asked
from tests.loaders.confluence.reading import client_of


class ConfluenceLibrary:
    """Imports what is wanted; `waits` are the (seconds, reasons) that the loader told.

    `confirm` is what a person answers who is asked whether documents are really gone.
    """

    def __init__(self, fake: FakeConfluence, data_dir: Path, wanted: Wanted) -> None:
        self.fake, self.wanted = fake, wanted
        self.library = Library(data_dir)
        self.waits: list[tuple[float, str]] = []
        self.confirm: Callable[[], bool] = lambda: True
        self.source = self.library.sources.ensure("confluence", fake.url, name="Wiki")

    def load(self) -> tuple[ImportReport, list[Asked]]:
        """Import, confirming removals if need be: the report, and what the site was asked."""
        before = len(self.fake.requests)
        report = self._run(confirm_removals=False)
        if report.state is ImportState.NEEDS_CONFIRMATION and self.confirm():
            before = len(self.fake.requests)
            report = self._run(confirm_removals=True)
        return report, self.fake.requests[before:]

    def _run(self, *, confirm_removals: bool) -> ImportReport:
        source = self.library.sources.get(self.source.id)
        return self.library.load(self.loader(), source=source, confirm_removals=confirm_removals)

    def loader(self) -> ConfluencePages:
        return ConfluencePages(client_of(self.fake, self.waits), self.wanted)

    def pages(self) -> dict[str, Visible]:
        """By id, the pages and posts that the library holds, as `Contents.visible` tells them."""
        return {key: self._page(known) for key, known in self._known(files=False).items()}

    def files(self) -> dict[str, tuple[int, str]]:
        """By id, the version and the text of the attachments that the library holds."""
        return {
            key: (ContentVersion.parse(known.version).number, self._text(known))
            for key, known in self._known(files=True).items()
        }

    def _known(self, *, files: bool) -> dict[str, KnownVersion]:
        known = self.library.documents.known(self.source.id)
        return {key: one for key, one in known.items() if key.startswith("att") == files}

    def _page(self, known: KnownVersion) -> Visible:
        """Each page of the tests is one paragraph."""
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

    def _text(self, known: KnownVersion) -> str:
        return self.library.documents.text(known.document_id)
