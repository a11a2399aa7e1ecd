"""Listings: selections, changes, and the number of requests."""

import pytest

from domain import NEVER_IMPORTED, Cursor
from domain.errors import SourceError, SourceUnavailableError, TemporarilyUnreadableError
from loaders.confluence.confluence_selection import ConfluenceSelection, Scope
from tests.fakes.faults import Fault, Faults, no_faults
from tests.loaders.confluence.reading import (
    Library,
    id_of,
    pages_of,
    refs_of,
    site_contents,
    titles_of,
)


@pytest.mark.parametrize(
    ("selection", "titles"),
    [
        (ConfluenceSelection(), {"Top", "Middle", "Low", "News", "Rules"}),
        (ConfluenceSelection(Scope.SPACES, spaces=("HR",)), {"Rules"}),
        (
            ConfluenceSelection(Scope.SPACES, spaces=("HR", "DOC")),
            {"Top", "Middle", "Low", "News", "Rules"},
        ),
        (
            ConfluenceSelection(Scope.LABELS, page_labels=("guide", "law")),
            {"Middle", "Low", "Rules"},
        ),
        (
            ConfluenceSelection(Scope.CQL, cql='title = "Low" or space = HR order by title'),
            {"Low", "Rules"},
        ),
        (ConfluenceSelection(skip_labels=("draft",)), {"Top", "Middle", "News", "Rules"}),
    ],
)
def test_only_pages_of_the_selection_are_listed(docs, selection, titles):
    assert titles_of(pages_of(docs, selection)) == titles


def test_a_tree_contains_a_page_and_its_descendants(docs):
    middle = id_of(docs, "Middle")
    addresses = [middle, f"{docs.url}/pages/viewpage.action?pageId={middle}"]
    for tree in [*addresses, f"{docs.url}/display/DOC/Middle"]:
        pages = pages_of(docs, ConfluenceSelection(Scope.TREES, trees=(tree,)))
        assert titles_of(pages) == {"Middle", "Low"}


def test_an_unknown_tree_is_named_in_the_error(docs):
    pages = pages_of(
        docs, ConfluenceSelection(Scope.TREES, trees=(f"{docs.url}/display/DOC/Nowhere",))
    )
    with pytest.raises(SourceError, match="display/DOC/Nowhere' is not a page"):
        [*pages.list()]


def test_an_invalid_query_fails_with_the_message_of_confluence(docs):
    with pytest.raises(
        SourceError, match=r"Could not parse cql.*Check the selection of the source"
    ):
        [*pages_of(docs, ConfluenceSelection(Scope.CQL, cql="colour = red")).list()]
    assert docs.refused.pop()


def test_archived_pages_are_listed_only_on_request(docs):
    if docs.cloud:
        docs.archive(id_of(docs, "Rules"))
    else:
        docs.archive_space("HR")
    assert "Rules" not in titles_of(pages_of(docs))
    assert titles_of(pages_of(docs, ConfluenceSelection(archived=True))) >= {"Rules", "Top"}


def test_a_second_import_reads_nothing(docs):
    library = Library()
    library.update(pages_of(docs))
    assert library.contents() == site_contents(docs)
    docs.requests.clear()
    library.update(pages_of(docs))
    assert library.read == []
    assert len(docs.requests) == 2  # who is signed in, and one listing


@pytest.mark.parametrize(
    ("edit", "read"),
    [
        (lambda site, page: site.edit(page, "<p>other</p>"), {"Middle"}),
        (lambda site, page: site.rename(page, "Centre"), {"Centre", "Low"}),
        (lambda site, page: site.move(page, space="HR"), {"Middle", "Low"}),
        (lambda site, page: site.label(page, "new"), {"Middle"}),
        (lambda site, page: site.unlabel(page, "guide"), {"Middle"}),
        (lambda site, page: site.add("DOC", "Fresh", "<p>f</p>", parent=page), {"Fresh"}),
        (lambda site, page: site.trash(page), {"Low"}),
        (lambda site, page: site.purge(page), {"Low"}),
        (lambda site, page: site.restrict(page), set()),
    ],
)
def test_only_documents_that_an_edit_changed_are_read_again(docs, edit, read):
    library = Library()
    library.update(pages_of(docs))
    edit(docs, id_of(docs, "Middle"))
    library.update(pages_of(docs))
    assert {library.documents[key].metadata["title"] for key in library.read} == read
    assert library.contents() == site_contents(docs)


def test_restored_pages_are_read_again(docs):
    library, middle = Library(), id_of(docs, "Middle")
    library.update(pages_of(docs))
    docs.trash(middle)
    library.update(pages_of(docs))
    docs.restore(middle)
    library.update(pages_of(docs))
    assert middle in library.read
    assert library.contents() == site_contents(docs)


def test_an_edit_between_listing_and_reading_is_imported_once(docs):
    pages, top = pages_of(docs), id_of(docs, "Top")
    ref = refs_of(pages.list())[top]
    docs.edit(top, "<p>meanwhile</p>")
    document = pages.read(ref)
    assert document.page_content == "meanwhile"
    assert document.metadata["version"] == refs_of(pages.list())[top].version != ref.version


def test_a_page_deleted_between_listing_and_reading_is_retried(docs):
    pages, top = pages_of(docs), id_of(docs, "Top")
    ref = refs_of(pages.list())[top]
    docs.trash(top)
    with pytest.raises(TemporarilyUnreadableError, match="deleted or hidden"):
        pages.read(ref)


def test_one_failing_page_does_not_stop_the_others(docs):
    top = id_of(docs, "Top")
    docs.faults = Faults(
        share=1, kinds=[Fault.FAILED], in_a_row=99, only=lambda path: f"content/{top}" in path
    )
    library = Library()
    library.update(pages_of(docs))
    assert set(library.failed) == {top}
    assert len(library.documents) == 4
    assert library.cursor == {}
    docs.faults = no_faults()
    library.update(pages_of(docs))
    assert library.read == [top]
    assert library.contents() == site_contents(docs)


def test_an_unreachable_site_ends_the_import(docs):
    pages = pages_of(docs)
    ref = next(iter(refs_of(pages.list()).values()))
    docs.unplug()
    with pytest.raises(SourceUnavailableError):
        pages.read(ref)
    with pytest.raises(SourceUnavailableError):
        [*pages.list()]


def test_an_interrupted_listing_is_an_error_and_removes_no_pages(docs):
    for number in range(250):
        docs.add("HR", f"Page {number}")
    library = Library()
    library.update(pages_of(docs))
    docs.faults = Faults(
        share=1,
        kinds=[Fault.UNAVAILABLE],
        in_a_row=99,
        only=lambda path: "content/search" in path and ("cursor" in path or "start" in path),
    )
    with pytest.raises(SourceUnavailableError):
        [*pages_of(docs).list(library.previous)]


def test_an_expired_login_is_not_mistaken_for_an_empty_site(docs, monkeypatch):
    monkeypatch.setattr(docs.shapes.__class__, "user", lambda *_: {"type": "anonymous"})
    with pytest.raises(SourceError, match="treats this account as an anonymous visitor"):
        [*pages_of(docs).list()]


def test_listings_are_lazy(docs):
    for number in range(450):
        docs.add("HR", f"Page {number}")
    docs.requests.clear()
    listing = pages_of(docs).list()
    next(listing)
    assert len(docs.requests) == 2
    assert isinstance([*listing][-1], Cursor)


def test_the_first_import_lists_everything(docs):
    assert len(refs_of(pages_of(docs).list(NEVER_IMPORTED))) == 5
