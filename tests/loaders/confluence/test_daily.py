"""Between whole listings only edits are asked for, and none is lost."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from domain import DocumentRef, PreviousImport
from loaders.confluence.confluence_loader import Deletions
from loaders.confluence.confluence_selection import ConfluenceSelection, Scope
from tests.fakes.faults import Fault, Faults, no_faults
from tests.loaders.confluence.reading import Library, id_of, pages_of, refs_of, shown_by


class Clock:
    def __init__(self):
        self.now = datetime.now(UTC)

    def __call__(self):
        return self.now

    def pass_by(self, **time):
        self.now += timedelta(**time)


@pytest.fixture
def clock(docs):
    docs.now = Clock()
    return docs.now


def daily(fake, clock, wanted=None):
    return pages_of(fake, wanted, deletions=Deletions.DAILY, now=clock)


def searches(fake):
    return [asked.params.get("cql", "") for asked in fake.requests if "search" in asked.path]


def test_between_daily_listings_only_edits_are_asked_for(docs, clock):
    library = Library()
    library.update(daily(docs, clock))
    clock.pass_by(days=2)
    library.update(daily(docs, clock))  # a whole one
    clock.pass_by(hours=5)
    docs.edit(id_of(docs, "Rules"), "<p>new rules</p>")
    docs.requests.clear()
    library.update(daily(docs, clock))
    assert len(library.read) == 1
    assert library.shown() == shown_by(docs)
    assert ["lastmodified >=" in cql for cql in searches(docs)] == [True]


def test_deletions_and_moves_wait_for_the_daily_listing(docs, clock):
    library = Library()
    library.update(daily(docs, clock))
    docs.trash(id_of(docs, "News"))
    docs.move(id_of(docs, "Low"), space="HR")
    clock.pass_by(hours=20)
    library.update(daily(docs, clock))
    assert len(library.documents) == 5
    clock.pass_by(hours=5)
    library.update(daily(docs, clock))
    assert library.shown() == shown_by(docs)
    assert [*library.gone.values()] == ["it is in the trash"]


@pytest.mark.parametrize("hours", [-12, 14])
def test_no_time_zone_of_the_account_loses_an_edit(docs, clock, hours):
    docs.zone = timezone(timedelta(hours=hours))
    library = Library()
    library.update(daily(docs, clock))
    for step in range(6):
        clock.pass_by(hours=3, minutes=59, seconds=50)
        docs.edit(id_of(docs, "Rules"), f"<p>step {step}</p>")
        library.update(daily(docs, clock))
        assert library.shown() == shown_by(docs)


def test_a_failed_page_is_tried_again_though_nothing_about_it_changed(docs, clock):
    top = id_of(docs, "Top")
    library = Library()
    library.update(daily(docs, clock))
    cursor = library.cursor
    clock.pass_by(hours=2)
    docs.edit(top, "<p>newer</p>")
    docs.faults = Faults(
        share=1, kinds=[Fault.FAILED], in_a_row=99, only=lambda asked: f"content/{top}" in asked
    )
    library.update(daily(docs, clock))
    assert set(library.failed) == {top}
    assert library.cursor == cursor
    docs.faults = no_faults()
    clock.pass_by(hours=2)
    library.update(daily(docs, clock))
    assert library.read == [top]
    assert library.shown() == shown_by(docs)


def test_another_choice_is_listed_as_a_whole(docs, clock):
    library = Library()
    library.update(daily(docs, clock, ConfluenceSelection(Scope.SPACES, spaces=("HR",))))
    clock.pass_by(days=10)
    library.update(daily(docs, clock, ConfluenceSelection(Scope.SPACES, spaces=("HR",))))
    clock.pass_by(hours=1)
    library.update(daily(docs, clock))
    assert library.shown() == shown_by(docs)


@pytest.mark.parametrize("cursor", [{}, {"whole": "?", "watermark": ""}, {"whole": "x"}])
def test_an_unusable_cursor_leads_to_a_full_listing(docs, clock, cursor):
    found = [*daily(docs, clock).list(PreviousImport(cursor=cursor))]
    assert len(refs_of(found)) == 5


def test_a_new_comment_is_seen_between_daily_listings(docs, clock):
    wanted, library, rules = (
        ConfluenceSelection(comments=True, attachments=True),
        Library(),
        id_of(docs, "Rules"),
    )
    library.update(daily(docs, clock, wanted))
    clock.pass_by(days=3)
    library.update(daily(docs, clock, wanted))
    clock.pass_by(hours=3)
    docs.comment(rules, "<p>Well said</p>")
    held = docs.attach(rules, "more.txt", b"more")
    library.update(daily(docs, clock, wanted))
    assert library.read == [rules, held]
    assert library.documents[rules].page_content.endswith("Well said")


def test_an_attachment_that_is_too_large_is_named_each_time_until_the_limit_is_raised(docs, clock):
    held = docs.attach(id_of(docs, "Low"), "big.txt", b"x" * 2000)
    wanted, library = ConfluenceSelection(attachments=True), Library()

    def update(max_bytes):
        clock.pass_by(hours=1)
        options = {"deletions": Deletions.DAILY, "now": clock, "max_bytes": max_bytes}
        library.update(pages_of(docs, wanted, **options))
        library.failed |= {key: DocumentRef(key, "", "") for key in library.skipped}

    for _ in range(3):
        update(1000)
        assert set(library.skipped) == {held}
    update(3000)
    assert library.read == [held]
    assert ["lastmodified >=" in cql for cql in searches(docs)] == [False] * 2 + [True] * 6
