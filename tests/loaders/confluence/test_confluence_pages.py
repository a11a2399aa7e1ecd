"""Listings: what is wanted, what changed, what it costs."""

import pytest

from domain import NEVER_IMPORTED, Cursor
from errors import SourceError, SourceUnavailableError, TemporarilyUnreadableError
from loaders.confluence.confluence_selection import ConfluenceSelection, Scope
from tests.fakes.faults import Fault, Faults, no_faults
from tests.loaders.confluence.reading import (
    Library,
    id_of,
    pages_of,
    refs_of,
    shown_by,
    titles_of,
)


@pytest.mark.parametrize(
    ("wanted", "titles"),
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
def test_what_is_wanted_is_listed_and_nothing_else(docs, wanted, titles):
    assert titles_of(pages_of(docs, wanted)) == titles


def test_a_tree_is_a_page_by_id_or_address_and_all_below_it(docs):
    middle = id_of(docs, "Middle")
    addresses = [middle, f"{docs.url}/pages/viewpage.action?pageId={middle}"]
    for tree in [*addresses, f"{docs.url}/display/DOC/Middle"]:
        pages = pages_of(docs, ConfluenceSelection(Scope.TREES, trees=(tree,)))
        assert titles_of(pages) == {"Middle", "Low"}


def test_a_tree_that_is_none_is_named(docs):
    pages = pages_of(
        docs, ConfluenceSelection(Scope.TREES, trees=(f"{docs.url}/display/DOC/Nowhere",))
    )
    with pytest.raises(SourceError, match="display/DOC/Nowhere' is not a page"):
        [*pages.list()]


def test_a_query_that_is_not_understood_is_told_with_confluences_words(docs):
    with pytest.raises(
        SourceError, match=r"Could not parse cql.*Check the selection of the source"
    ):
        [*pages_of(docs, ConfluenceSelection(Scope.CQL, cql="colour = red")).list()]
    assert docs.refused.pop()


def test_archived_pages_come_only_if_wanted(docs):
    if docs.cloud:
        docs.archive(id_of(docs, "Rules"))
    else:
        docs.archive_space("HR")
    assert "Rules" not in titles_of(pages_of(docs))
    assert titles_of(pages_of(docs, ConfluenceSelection(archived=True))) >= {"Rules", "Top"}


def test_a_second_import_reads_nothing(docs):
    library = Library()
    library.update(pages_of(docs))
    assert library.shown() == shown_by(docs)
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
def test_each_edit_leads_to_what_it_changed_and_to_nothing_else(docs, edit, read):
    library = Library()
    library.update(pages_of(docs))
    edit(docs, id_of(docs, "Middle"))
    library.update(pages_of(docs))
    assert {library.documents[key].metadata["title"] for key in library.read} == read
    assert library.shown() == shown_by(docs)


def test_a_page_that_comes_back_is_read_again(docs):
    library, middle = Library(), id_of(docs, "Middle")
    library.update(pages_of(docs))
    docs.trash(middle)
    library.update(pages_of(docs))
    docs.restore(middle)
    library.update(pages_of(docs))
    assert middle in library.read
    assert library.shown() == shown_by(docs)


def test_an_edit_while_it_is_read_is_imported_as_read_and_once(docs):
    pages, top = pages_of(docs), id_of(docs, "Top")
    listed = refs_of(pages.list())[top]
    docs.edit(top, "<p>meanwhile</p>")
    document = pages.read(listed)
    assert document.page_content == "meanwhile"
    assert document.metadata["version"] == refs_of(pages.list())[top].version != listed.version


def test_what_vanishes_before_it_is_read_is_to_be_tried_again(docs):
    pages, top = pages_of(docs), id_of(docs, "Top")
    listed = refs_of(pages.list())[top]
    docs.trash(top)
    with pytest.raises(TemporarilyUnreadableError, match="deleted or hidden"):
        pages.read(listed)


def test_one_page_that_fails_is_named_while_the_others_are_read(docs):
    top = id_of(docs, "Top")
    docs.faults = Faults(
        share=1, kinds=[Fault.FAILED], in_a_row=99, only=lambda asked: f"content/{top}" in asked
    )
    library = Library()
    library.update(pages_of(docs))
    assert set(library.failed) == {top}
    assert len(library.documents) == 4
    assert library.cursor == {}
    docs.faults = no_faults()
    library.update(pages_of(docs))
    assert library.read == [top]
    assert library.shown() == shown_by(docs)


def test_a_site_that_goes_away_ends_the_import(docs):
    pages = pages_of(docs)
    ref = next(iter(refs_of(pages.list()).values()))
    docs.unplug()
    with pytest.raises(SourceUnavailableError):
        pages.read(ref)
    with pytest.raises(SourceUnavailableError):
        [*pages.list()]


def test_a_listing_that_breaks_midway_says_so_rather_than_that_pages_are_gone(docs):
    for number in range(250):
        docs.add("HR", f"Page {number}")
    library = Library()
    library.update(pages_of(docs))
    docs.faults = Faults(
        share=1,
        kinds=[Fault.UNAVAILABLE],
        in_a_row=99,
        only=lambda asked: "content/search" in asked and ("cursor" in asked or "start" in asked),
    )
    with pytest.raises(SourceUnavailableError):
        [*pages_of(docs).list(library.previous)]


def test_an_account_that_is_no_longer_signed_in_is_not_taken_for_an_empty_site(docs, monkeypatch):
    monkeypatch.setattr(docs.shapes.__class__, "user", lambda *_: {"type": "anonymous"})
    with pytest.raises(SourceError, match="a visitor who is not signed in"):
        [*pages_of(docs).list()]


def test_a_listing_is_lazy(docs):
    for number in range(450):
        docs.add("HR", f"Page {number}")
    docs.requests.clear()
    listing = pages_of(docs).list()
    next(listing)
    assert len(docs.requests) == 2
    assert isinstance([*listing][-1], Cursor)


def test_nothing_before_lists_everything(docs):
    assert len(refs_of(pages_of(docs).list(NEVER_IMPORTED))) == 5
