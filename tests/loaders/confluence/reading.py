"""Imports from a fake Confluence: lists, reads changed documents, and keeps the state."""

from dataclasses import dataclass, field

from domain import Cursor, DocumentRef, PreviousImport, Removed, Skipped
from domain.errors import UnreadableError
from domain.web.address_guard import AddressGuard, AllowedHosts
from loaders.confluence.client import ConfluenceClient
from loaders.confluence.confluence_loader import ConfluenceLoader
from loaders.confluence.confluence_login import Login, LoginKind
from loaders.confluence.confluence_selection import ConfluenceSelection
from tests.fakes.confluence import ACCESS_TOKEN, API_TOKEN, EMAIL

LOOPBACK = AddressGuard(AllowedHosts.parse("127.0.0.0/8"))
"""Permits the servers of the tests."""


def login_to(fake):
    if fake.cloud:
        return Login(LoginKind.CLOUD, EMAIL, API_TOKEN)
    return Login(LoginKind.TOKEN, "", ACCESS_TOKEN)


def client_of(fake, waits=None):
    """A client that never sleeps; each wait appends (seconds, reason) to `waits`."""
    waits = [] if waits is None else waits
    return ConfluenceClient(
        fake.url, login_to(fake), lambda seconds, why: waits.append((seconds, why)), LOOPBACK
    )


def pages_of(fake, selection=None, **options):
    return ConfluenceLoader(client_of(fake), selection or ConfluenceSelection(), **options)


def refs_of(entries):
    return {entry.key: entry for entry in entries if isinstance(entry, DocumentRef)}


def id_of(fake, title):
    return next(key for key, page in fake.visible(archived=True).items() if page.title == title)


def titles_of(pages):
    return {pages.read(ref).metadata["title"] for ref in refs_of(pages.list()).values()}


@dataclass
class Library:
    """The state after some imports; `read` contains the keys that the last one had to read."""

    documents: dict = field(default_factory=dict)
    failed: dict = field(default_factory=dict)
    refs: dict = field(default_factory=dict)
    cursor: dict = field(default_factory=dict)
    removals: dict = field(default_factory=dict)
    skipped: dict = field(default_factory=dict)
    read: list = field(default_factory=list)

    @property
    def previous(self):
        return PreviousImport(self.refs, self.failed, self.cursor)

    def update(self, pages):
        """Run one import."""
        entries = [*pages.list(self.previous)]
        refs = refs_of(entries)
        assert len(refs) == sum(isinstance(entry, DocumentRef) for entry in entries)
        self.removals = {entry.key: entry.reason for entry in entries if isinstance(entry, Removed)}
        self.skipped = {entry.key: entry.reason for entry in entries if isinstance(entry, Skipped)}
        changed = [ref for key, ref in refs.items() if self.refs.get(key) != ref]
        self.read = [ref.key for ref in changed]
        self.failed = {}
        for ref in changed:
            self._take(pages, ref)
        for key in self.refs.keys() - refs.keys() - self.skipped.keys():
            del self.refs[key], self.documents[key]
        if not self.failed:
            self.cursor = next(entry.values for entry in entries if isinstance(entry, Cursor))

    def _take(self, pages, ref):
        try:
            document = pages.read(ref)
        except UnreadableError:
            self.failed[ref.key] = ref
            return
        version, location = document.metadata["version"], document.metadata["location"]
        self.refs[ref.key] = DocumentRef(ref.key, version, location)
        self.documents[ref.key] = document

    def contents(self):
        """Map each page id to the fields that `site_contents` returns."""
        return {
            key: (
                document.metadata["page_version"],
                document.metadata["title"],
                tuple(document.metadata["ancestors"]),
                document.metadata["space"],
                tuple(document.metadata["labels"]),
                document.page_content,
            )
            for key, document in self.documents.items()
        }


def site_contents(fake):
    """What the library must contain. Every page of the fake must be a single paragraph."""
    return {
        key: (
            page.version,
            page.title,
            page.ancestors,
            page.space,
            page.labels,
            page.text.removeprefix("<p>").removesuffix("</p>"),
        )
        for key, page in fake.visible().items()
    }
