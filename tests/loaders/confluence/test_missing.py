"""Reasons for removals, and documents that stay because their removal is not certain."""

import pytest

from domain import DocumentRef, Removed, Skipped
from domain.errors import SourceUnavailableError
from loaders.confluence.confluence_selection import ConfluenceSelection, Scope
from tests.fakes.faults import Fault, Faults
from tests.loaders.confluence.reading import Library, pages_of, refs_of

HIDDEN = "was deleted, or is hidden from this account"


@pytest.fixture
def docs(fake):
    fake.add_space("DOC")
    fake.add_space("HR")
    return fake


def import_all(fake, selection=None):
    library = Library()
    library.update(pages_of(fake, selection))
    return library


def lose_index(fake, monkeypatch):
    """Make the search return nothing although every page exists."""
    monkeypatch.setattr(fake, "is_listed", lambda *_, **__: False)
    fake.revision += 1


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        (lambda site, page: site.trash(page), "it is in the trash"),
        (
            lambda site, page: site.purge(page),
            "it was permanently deleted, or is hidden from this account",
        ),
        (
            lambda site, page: site.restrict(page),
            "it was permanently deleted, or is hidden from this account",
        ),
        (
            lambda site, page: site.archive(page),
            "it was archived; archived pages are not imported",
        ),
        (
            lambda site, page: site.move(page, space="HR"),
            "it was moved or relabeled and is no longer in the selection",
        ),
        (
            lambda site, page: site.label(page, "secret"),
            "it was moved or relabeled and is no longer in the selection",
        ),
        (
            lambda site, page: site.archive_space("DOC"),
            "its space DOC was archived; archived pages are not imported",
        ),
    ],
)
def test_removals_have_a_reason(docs, edit, reason):
    page = docs.add("DOC", "Page", "<p>text</p>")
    selection = ConfluenceSelection(Scope.SPACES, spaces=("DOC",), skip_labels=("secret",))
    library = import_all(docs, selection)
    edit(docs, page)
    library.update(pages_of(docs, selection))
    assert library.removals == {page: reason}
    assert library.documents == {}


def test_documents_outside_a_new_selection_are_removed_without_requests(docs):
    page = docs.add("HR", "Page", "<p>text</p>")
    library = import_all(docs)
    docs.requests.clear()
    library.update(pages_of(docs, ConfluenceSelection(Scope.SPACES, spaces=("DOC",))))
    assert library.removals == {page: "its space HR is no longer imported"}
    assert docs.count("/content/") == docs.count("/search")


def test_documents_that_a_custom_query_no_longer_matches_are_removed(docs):
    page = docs.add("DOC", "Plan A", "<p>text</p>")
    selection = ConfluenceSelection(Scope.CQL, cql="title ~ plan")
    library = import_all(docs, selection)
    docs.rename(page, "Idea A")
    library.update(pages_of(docs, selection))
    assert library.removals == {page: "it no longer matches the query"}


@pytest.mark.parametrize("lose", [lambda s: s.hide_space("DOC"), lambda s: s.delete_space("DOC")])
def test_removals_of_documents_in_a_hidden_space_are_uncertain(docs, lose):
    pages = [docs.add("DOC", f"Page {number}", "<p>text</p>") for number in range(30)]
    library = import_all(docs)
    lose(docs)
    docs.requests.clear()
    removals = [
        entry for entry in pages_of(docs).list(library.previous) if isinstance(entry, Removed)
    ]
    assert {entry.key for entry in removals} == set(pages)
    assert not any(entry.is_certain for entry in removals)
    assert all(HIDDEN in entry.reason for entry in removals)
    assert docs.count("/space/DOC") == 1
    assert len(docs.requests) == 3


def test_a_page_missing_from_the_search_is_requested_and_stays(docs, monkeypatch):
    page = docs.add("DOC", "Page", "<p>text</p>")
    library = import_all(docs)
    library.refs[page] = DocumentRef(page, library.refs[page].version, "old")
    lose_index(docs, monkeypatch)
    entries = [*pages_of(docs).list(library.previous)]
    assert refs_of(entries)[page].version == library.refs[page].version
    assert not [entry for entry in entries if isinstance(entry, Removed)]


def test_a_search_index_without_most_pages_removes_nothing(docs, monkeypatch):
    for number in range(150):
        docs.add("DOC", f"Page {number}", "<p>text</p>")
    library = import_all(docs)
    lose_index(docs, monkeypatch)
    with pytest.raises(SourceUnavailableError, match="index is being rebuilt"):
        [*pages_of(docs).list(library.previous)]


def test_only_some_pages_are_requested_if_the_removal_needs_a_confirmation(docs):
    pages = [docs.add("DOC", f"Page {number}", "<p>text</p>") for number in range(150)]
    library = import_all(docs)
    for page in pages[:120]:
        docs.trash(page)
    docs.requests.clear()
    entries = [*pages_of(docs).list(library.previous)]
    assert len(refs_of(entries)) == 30
    assert sum(isinstance(entry, Removed) for entry in entries) == 50
    assert len(docs.requests) < 60


def test_many_removals_are_all_checked(docs):
    pages = [docs.add("DOC", f"Page {number}", "<p>text</p>") for number in range(250)]
    library = import_all(docs)
    for page in pages[:110]:
        docs.trash(page)
    library.update(pages_of(docs))
    assert set(library.removals) == set(pages[:110])


@pytest.mark.parametrize("fault", [Fault.FAILED, Fault.REFUSED])
def test_a_page_that_cannot_be_requested_stays(docs, fault):
    page, other = docs.add("DOC", "Page", "<p>a</p>"), docs.add("DOC", "Other", "<p>b</p>")
    library = import_all(docs)
    docs.trash(page)
    docs.trash(other)
    docs.faults = Faults(
        share=1, kinds=[fault], in_a_row=99, only=lambda path: f"content/{page}" in path
    )
    entries = [*pages_of(docs).list(library.previous)]
    assert [entry.key for entry in entries if isinstance(entry, Removed)] == [other]
    skipped = next(entry for entry in entries if isinstance(entry, Skipped))
    assert skipped.key == page
    assert skipped.is_error
    assert "could not determine" in skipped.reason


def test_an_outage_during_the_checks_removes_nothing(docs):
    page = docs.add("DOC", "Page", "<p>a</p>")
    library = import_all(docs)
    docs.trash(page)
    docs.unplug_after = 3  # who is signed in, the listing, the space
    with pytest.raises(SourceUnavailableError):
        [*pages_of(docs).list(library.previous)]


def test_the_reason_of_a_removed_attachment_names_its_page(docs):
    page = docs.add("DOC", "Page", "<p>a</p>", labels=("guide",))
    attachment = docs.attach(page, "a.txt", b"text")
    selection = ConfluenceSelection(Scope.LABELS, page_labels=("guide",), attachments=True)
    library = import_all(docs, selection)
    docs.unlabel(page, "guide")
    library.update(pages_of(docs, selection))
    assert library.removals[attachment] == "its page is no longer imported"
