"""Between full listings, imports request only edits, and lose none."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from domain import DocumentRef, PreviousImport
from loaders.confluence.confluence_loader import Deletions
from loaders.confluence.confluence_selection import ConfluenceSelection, Scope
from tests.fakes.faults import Fault, Faults, no_faults
from tests.loaders.confluence.reading import Library, id_of, pages_of, refs_of, site_contents


class Clock:
    def __init__(self):
        self.now = datetime.now(UTC)

    def __call__(self):
        return self.now

    def advance(self, **time):
        self.now += timedelta(**time)


@pytest.fixture
def clock(docs):
    docs.now = Clock()
    return docs.now


def daily(fake, clock, selection=None):
    return pages_of(fake, selection, deletions=Deletions.DAILY, now=clock)


def searches(fake):
    return [request.params.get("cql", "") for request in fake.requests if "search" in request.path]


def test_only_edits_are_requested_between_daily_listings(docs, clock):
    library = Library()
    library.update(daily(docs, clock))
    clock.advance(days=2)
    library.update(daily(docs, clock))  # a full listing
    clock.advance(hours=5)
    docs.edit(id_of(docs, "Rules"), "<p>new rules</p>")
    docs.requests.clear()
    library.update(daily(docs, clock))
    assert len(library.read) == 1
    assert library.contents() == site_contents(docs)
    assert ["lastmodified >=" in cql for cql in searches(docs)] == [True]


def test_deletions_and_moves_are_found_by_the_daily_listing(docs, clock):
    library = Library()
    library.update(daily(docs, clock))
    docs.trash(id_of(docs, "News"))
    docs.move(id_of(docs, "Low"), space="HR")
    clock.advance(hours=20)
    library.update(daily(docs, clock))
    assert len(library.documents) == 5
    clock.advance(hours=5)
    library.update(daily(docs, clock))
    assert library.contents() == site_contents(docs)
    assert [*library.removals.values()] == ["it is in the trash"]


@pytest.mark.parametrize("hours", [-12, 14])
def test_no_edit_is_lost_in_any_time_zone_of_the_account(docs, clock, hours):
    docs.zone = timezone(timedelta(hours=hours))
    library = Library()
    library.update(daily(docs, clock))
    for step in range(6):
        clock.advance(hours=3, minutes=59, seconds=50)
        docs.edit(id_of(docs, "Rules"), f"<p>step {step}</p>")
        library.update(daily(docs, clock))
        assert library.contents() == site_contents(docs)


def test_a_failed_page_is_retried_although_it_did_not_change(docs, clock):
    top = id_of(docs, "Top")
    library = Library()
    library.update(daily(docs, clock))
    cursor = library.cursor
    clock.advance(hours=2)
    docs.edit(top, "<p>newer</p>")
    docs.faults = Faults(
        share=1, kinds=[Fault.FAILED], in_a_row=99, only=lambda path: f"content/{top}" in path
    )
    library.update(daily(docs, clock))
    assert set(library.failed) == {top}
    assert library.cursor == cursor
    docs.faults = no_faults()
    clock.advance(hours=2)
    library.update(daily(docs, clock))
    assert library.read == [top]
    assert library.contents() == site_contents(docs)


def test_a_new_selection_triggers_a_full_listing(docs, clock):
    library = Library()
    library.update(daily(docs, clock, ConfluenceSelection(Scope.SPACES, spaces=("HR",))))
    clock.advance(days=10)
    library.update(daily(docs, clock, ConfluenceSelection(Scope.SPACES, spaces=("HR",))))
    clock.advance(hours=1)
    library.update(daily(docs, clock))
    assert library.contents() == site_contents(docs)


@pytest.mark.parametrize("cursor", [{}, {"whole": "?", "watermark": ""}, {"whole": "x"}])
def test_an_invalid_cursor_triggers_a_full_listing(docs, clock, cursor):
    entries = [*daily(docs, clock).list(PreviousImport(cursor=cursor))]
    assert len(refs_of(entries)) == 5


def test_new_comments_and_attachments_are_read_between_daily_listings(docs, clock):
    selection, library, rules = (
        ConfluenceSelection(comments=True, attachments=True),
        Library(),
        id_of(docs, "Rules"),
    )
    library.update(daily(docs, clock, selection))
    clock.advance(days=3)
    library.update(daily(docs, clock, selection))
    clock.advance(hours=3)
    docs.comment(rules, "<p>Well said</p>")
    attachment = docs.attach(rules, "more.txt", b"more")
    library.update(daily(docs, clock, selection))
    assert library.read == [rules, attachment]
    assert library.documents[rules].page_content.endswith("Well said")


def test_an_attachment_that_is_too_large_is_skipped_until_the_limit_is_raised(docs, clock):
    attachment = docs.attach(id_of(docs, "Low"), "big.txt", b"x" * 2000)
    selection, library = ConfluenceSelection(attachments=True), Library()

    def update(max_bytes):
        clock.advance(hours=1)
        options = {"deletions": Deletions.DAILY, "now": clock, "max_bytes": max_bytes}
        library.update(pages_of(docs, selection, **options))
        library.failed |= {key: DocumentRef(key, "", "") for key in library.skipped}

    for _ in range(3):
        update(1000)
        assert set(library.skipped) == {attachment}
    update(3000)
    assert library.read == [attachment]
    assert ["lastmodified >=" in cql for cql in searches(docs)] == [False] * 2 + [True] * 6
