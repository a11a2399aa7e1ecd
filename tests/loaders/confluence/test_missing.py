"""Why a document is gone, or kept, is told as far as Confluence tells it."""

import pytest

from domain import DocumentRef, Removed, Skipped
from errors import SourceUnavailableError
from loaders.confluence.confluence_selection import ConfluenceSelection, Scope
from tests.fakes.faults import Fault, Faults
from tests.loaders.confluence.reading import Library, pages_of, refs_of

HIDDEN = "was deleted, or is hidden from this account"


@pytest.fixture
def docs(fake):
    fake.add_space("DOC")
    fake.add_space("HR")
    return fake


def imported(fake, wanted=None):
    library = Library()
    library.update(pages_of(fake, wanted))
    return library


def lose_index(fake, monkeypatch):
    """The search finds nothing, though everything is there."""
    monkeypatch.setattr(fake, "is_listed", lambda *_, **__: False)
    fake.revision += 1


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        (lambda site, page: site.trash(page), "it is in the trash"),
        (
            lambda site, page: site.purge(page),
            "it was deleted for good, or is hidden from this account",
        ),
        (
            lambda site, page: site.restrict(page),
            "it was deleted for good, or is hidden from this account",
        ),
        (
            lambda site, page: site.archive(page),
            "it was archived; archived pages are not imported",
        ),
        (
            lambda site, page: site.move(page, space="HR"),
            "it was moved or labeled and is no longer part of the selection",
        ),
        (
            lambda site, page: site.label(page, "secret"),
            "it was moved or labeled and is no longer part of the selection",
        ),
        (
            lambda site, page: site.archive_space("DOC"),
            "its space DOC was archived; archived pages are not imported",
        ),
    ],
)
def test_the_reason_of_a_loss_is_told(docs, edit, reason):
    page = docs.add("DOC", "Page", "<p>text</p>")
    wanted = ConfluenceSelection(Scope.SPACES, spaces=("DOC",), skip_labels=("secret",))
    library = imported(docs, wanted)
    edit(docs, page)
    library.update(pages_of(docs, wanted))
    assert library.gone == {page: reason}
    assert library.documents == {}


def test_what_another_choice_leaves_out_is_gone_without_being_asked_for(docs):
    page = docs.add("HR", "Page", "<p>text</p>")
    library = imported(docs)
    docs.requests.clear()
    library.update(pages_of(docs, ConfluenceSelection(Scope.SPACES, spaces=("DOC",))))
    assert library.gone == {page: "its space HR is no longer imported"}
    assert docs.count("/content/") == docs.count("/search")


def test_what_an_own_query_no_longer_finds_is_gone(docs):
    page = docs.add("DOC", "Plan A", "<p>text</p>")
    wanted = ConfluenceSelection(Scope.CQL, cql="title ~ plan")
    library = imported(docs, wanted)
    docs.rename(page, "Idea A")
    library.update(pages_of(docs, wanted))
    assert library.gone == {page: "the query no longer finds it"}


@pytest.mark.parametrize("lose", [lambda s: s.hide_space("DOC"), lambda s: s.delete_space("DOC")])
def test_documents_of_a_space_that_is_hidden_are_gone_but_not_for_certain(docs, lose):
    pages = [docs.add("DOC", f"Page {number}", "<p>text</p>") for number in range(30)]
    library = imported(docs)
    lose(docs)
    docs.requests.clear()
    gone = [entry for entry in pages_of(docs).list(library.previous) if isinstance(entry, Removed)]
    assert {entry.key for entry in gone} == set(pages)
    assert not any(entry.is_certain for entry in gone)
    assert all(HIDDEN in entry.reason for entry in gone)
    assert docs.count("/space/DOC") == 1
    assert len(docs.requests) == 3


def test_a_page_the_search_leaves_out_is_asked_for_and_kept(docs, monkeypatch):
    page = docs.add("DOC", "Page", "<p>text</p>")
    library = imported(docs)
    library.refs[page] = DocumentRef(page, library.refs[page].version, "old")
    lose_index(docs, monkeypatch)
    found = [*pages_of(docs).list(library.previous)]
    assert refs_of(found)[page].version == library.refs[page].version
    assert not [entry for entry in found if isinstance(entry, Removed)]


def test_an_index_that_lost_most_pages_changes_nothing(docs, monkeypatch):
    for number in range(150):
        docs.add("DOC", f"Page {number}", "<p>text</p>")
    library = imported(docs)
    lose_index(docs, monkeypatch)
    with pytest.raises(SourceUnavailableError, match="index is being rebuilt"):
        [*pages_of(docs).list(library.previous)]


def test_of_a_removal_that_needs_a_confirmation_only_some_are_asked_for(docs):
    pages = [docs.add("DOC", f"Page {number}", "<p>text</p>") for number in range(150)]
    library = imported(docs)
    for page in pages[:120]:
        docs.trash(page)
    docs.requests.clear()
    found = [*pages_of(docs).list(library.previous)]
    assert len(refs_of(found)) == 30
    assert sum(isinstance(entry, Removed) for entry in found) == 50
    assert len(docs.requests) < 60


def test_many_losses_are_all_asked_for(docs):
    pages = [docs.add("DOC", f"Page {number}", "<p>text</p>") for number in range(250)]
    library = imported(docs)
    for page in pages[:110]:
        docs.trash(page)
    library.update(pages_of(docs))
    assert set(library.gone) == set(pages[:110])


@pytest.mark.parametrize("fault", [Fault.FAILED, Fault.REFUSED])
def test_a_page_that_can_t_be_asked_for_is_kept(docs, fault):
    page, other = docs.add("DOC", "Page", "<p>a</p>"), docs.add("DOC", "Other", "<p>b</p>")
    library = imported(docs)
    docs.trash(page)
    docs.trash(other)
    docs.faults = Faults(
        share=1, kinds=[fault], in_a_row=99, only=lambda asked: f"content/{page}" in asked
    )
    found = [*pages_of(docs).list(library.previous)]
    assert [entry.key for entry in found if isinstance(entry, Removed)] == [other]
    kept = next(entry for entry in found if isinstance(entry, Skipped))
    assert kept.key == page
    assert kept.is_error
    assert "not clear" in kept.reason


def test_nothing_is_gone_where_the_site_goes_away_while_it_is_asked(docs):
    page = docs.add("DOC", "Page", "<p>a</p>")
    library = imported(docs)
    docs.trash(page)
    docs.unplug_after = 3  # who is signed in, the listing, the space
    with pytest.raises(SourceUnavailableError):
        [*pages_of(docs).list(library.previous)]


def test_an_attachment_whose_page_is_no_longer_wanted_says_so(docs):
    page = docs.add("DOC", "Page", "<p>a</p>", labels=("guide",))
    held = docs.attach(page, "a.txt", b"text")
    wanted = ConfluenceSelection(Scope.LABELS, page_labels=("guide",), attachments=True)
    library = imported(docs, wanted)
    docs.unlabel(page, "guide")
    library.update(pages_of(docs, wanted))
    assert library.gone[held] == "its page is no longer imported"
