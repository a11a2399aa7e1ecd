"""Listings: what is wanted, what changed, what it costs."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from domain import NOTHING_BEFORE, Before, DocumentRef, Mark, Skipped
from errors import SourceError, SourceUnavailableError, UnreadableNowError
from loaders.confluence.pages import Deletions
from loaders.confluence.wanted import Scope, Wanted
from tests.fakes.faults import Fault, Faults, no_faults
from tests.loaders.confluence.reading import (
    Library,
    pages_of,
    refs_of,
    shown_by,
    titles_of,
)


@pytest.fixture
def docs(fake):
    """Two spaces: DOC holds Top > Middle > Low, with labels, and a blog post; HR holds Rules."""
    fake.add_space("DOC")
    fake.add_space("HR")
    top = fake.add("DOC", "Top", "<p>top</p>")
    middle = fake.add("DOC", "Middle", "<p>middle</p>", parent=top, labels=("guide",))
    fake.add("DOC", "Low", "<p>low</p>", parent=middle, labels=("guide", "draft"))
    fake.add("DOC", "News", "<p>news</p>", type="blogpost")
    fake.add("HR", "Rules", "<p>rules</p>", labels=("law",))
    return fake


def id_of(fake, title):
    return next(key for key, page in fake.visible(archived=True).items() if page.title == title)


@pytest.mark.parametrize(
    ("wanted", "titles"),
    [
        (Wanted(), {"Top", "Middle", "Low", "News", "Rules"}),
        (Wanted(Scope.SPACES, spaces=("HR",)), {"Rules"}),
        (Wanted(Scope.SPACES, spaces=("HR", "DOC")), {"Top", "Middle", "Low", "News", "Rules"}),
        (Wanted(Scope.LABELS, page_labels=("guide", "law")), {"Middle", "Low", "Rules"}),
        (Wanted(Scope.CQL, cql='title = "Low" or space = HR order by title'), {"Low", "Rules"}),
        (Wanted(skip_labels=("draft",)), {"Top", "Middle", "News", "Rules"}),
    ],
)
def test_what_is_wanted_is_listed_and_nothing_else(docs, wanted, titles):
    assert titles_of(pages_of(docs, wanted)) == titles


def test_a_tree_is_a_page_by_id_or_address_and_all_below_it(docs):
    middle = id_of(docs, "Middle")
    addresses = [middle, f"{docs.url}/pages/viewpage.action?pageId={middle}"]
    for tree in [*addresses, f"{docs.url}/display/DOC/Middle"]:
        pages = pages_of(docs, Wanted(Scope.TREES, trees=(tree,)))
        assert titles_of(pages) == {"Middle", "Low"}


def test_a_tree_that_is_none_is_named(docs):
    pages = pages_of(docs, Wanted(Scope.TREES, trees=(f"{docs.url}/display/DOC/Nowhere",)))
    with pytest.raises(SourceError, match="display/DOC/Nowhere' names no page"):
        [*pages.list()]


def test_a_query_that_is_not_understood_is_told_with_confluences_words(docs):
    with pytest.raises(SourceError, match=r"Could not parse cql.*Check what is to be imported"):
        [*pages_of(docs, Wanted(Scope.CQL, cql="colour = red")).list()]
    assert docs.refused.pop()


def test_archived_pages_come_only_if_wanted(docs):
    if docs.cloud:
        docs.archive(id_of(docs, "Rules"))
    else:
        docs.archive_space("HR")
    assert "Rules" not in titles_of(pages_of(docs))
    everything = [
        entry.key
        for entry in pages_of(docs, Wanted(archived=True)).list()
        if isinstance(entry, DocumentRef)
    ]
    assert len(everything) == 5


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
    with pytest.raises(UnreadableNowError, match="deleted or hidden"):
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
    assert library.mark == {}
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
        [*pages_of(docs).list(library.before)]


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
    assert isinstance([*listing][-1], Mark)


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
    mark = library.mark
    clock.pass_by(hours=2)
    docs.edit(top, "<p>newer</p>")
    docs.faults = Faults(
        share=1, kinds=[Fault.FAILED], in_a_row=99, only=lambda asked: f"content/{top}" in asked
    )
    library.update(daily(docs, clock))
    assert set(library.failed) == {top}
    assert library.mark == mark
    docs.faults = no_faults()
    clock.pass_by(hours=2)
    library.update(daily(docs, clock))
    assert library.read == [top]
    assert library.shown() == shown_by(docs)


def test_another_choice_is_listed_as_a_whole(docs, clock):
    library = Library()
    library.update(daily(docs, clock, Wanted(Scope.SPACES, spaces=("HR",))))
    clock.pass_by(days=10)
    library.update(daily(docs, clock, Wanted(Scope.SPACES, spaces=("HR",))))
    clock.pass_by(hours=1)
    library.update(daily(docs, clock))
    assert library.shown() == shown_by(docs)


@pytest.mark.parametrize("mark", [{}, {"whole": "?", "watermark": ""}, {"whole": "x"}])
def test_a_mark_that_says_nothing_leads_to_a_whole_listing(docs, clock, mark):
    found = [*daily(docs, clock).list(Before(mark=mark))]
    assert len(refs_of(found)) == 5


def test_attachments_come_with_the_pages_that_are_wanted(docs):
    low, rules = id_of(docs, "Low"), id_of(docs, "Rules")
    text = docs.attach(low, "low.txt", b"what is low")
    docs.attach(rules, "rules.txt", b"not wanted")
    docs.attach(low, "film.mp4", b"..", "video/mp4")
    big = docs.attach(low, "big.txt", b"x" * 2000)
    wanted = Wanted(Scope.LABELS, page_labels=("guide",), attachments=True)
    pages = pages_of(docs, wanted, max_bytes=1000)
    found = [*pages.list()]
    assert {key for key in refs_of(found) if key.startswith("att")} == {text}
    skipped = {entry.reason: entry.is_error for entry in found if isinstance(entry, Skipped)}
    assert skipped == {
        "Footnote does not read .mp4 files yet": False,
        "0.0 MiB is more than the limit of 0.0 MiB: split it": True,
    }
    with pytest.raises(SourceError, match="more than the limit"):
        pages.read(DocumentRef(big, "", ""))
    document = pages.read(refs_of(found)[text])
    assert document.page_content == "what is low"
    assert document.metadata["page"] == "Low"
    assert document.metadata["page_id"] == low


def test_attachments_are_kept_in_step(docs):
    wanted, library, rules = Wanted(attachments=True), Library(), id_of(docs, "Rules")
    held = docs.attach(rules, "rules.txt", b"old")
    library.update(pages_of(docs, wanted))
    docs.attach(rules, "rules.txt", b"new")
    library.update(pages_of(docs, wanted))
    assert library.read == [held]
    assert library.documents[held].page_content == "new"
    docs.trash(rules)
    library.update(pages_of(docs, wanted))
    assert set(library.gone) == {rules, held}
    docs.restore(rules)
    library.update(pages_of(docs, wanted))
    library.update(pages_of(docs))
    assert library.gone == {held: "attachments are no longer imported"}


def test_comments_are_part_of_their_page_and_seen_without_a_request_a_page(docs):
    wanted, library, rules = Wanted(comments=True), Library(), id_of(docs, "Rules")
    library.update(pages_of(docs, wanted))
    first = docs.comment(rules, "<p>Is this right?</p>")
    docs.comment(rules, "<p>It is.</p>", reply_to=first, by="lee")
    library.update(pages_of(docs, wanted))
    assert library.read == [rules]
    day = f"{docs.now():%Y-%m-%d}"
    assert library.documents[rules].page_content == (
        f"rules\n\n## Comments\n\nKim Minji, {day}:\n\nIs this right?\n\n"
        f"Lee Jun, {day}, in reply to Kim Minji:\n\nIt is."
    )
    docs.edit(first, "<p>Is this still right?</p>")
    library.update(pages_of(docs, wanted))
    assert library.read == [rules]
    docs.requests.clear()
    library.update(pages_of(docs, wanted))
    assert library.read == []
    assert len(docs.requests) == 3  # who is signed in, pages, comments


def test_a_new_comment_is_seen_between_daily_listings(docs, clock):
    wanted, library, rules = (
        Wanted(comments=True, attachments=True),
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


def test_nothing_before_lists_everything(docs):
    assert len(refs_of(pages_of(docs).list(NOTHING_BEFORE))) == 5
