"""Imports from a Confluence that answers badly, or not at all: nothing is lost or comes twice."""

import pytest

from domain import ImportState, Outcome
from errors import SourceError, SourceUnavailableError
from loaders.confluence.wanted import Wanted
from services.import_plan import TO_CONFIRM
from tests.fakes.confluence import FakeConfluence
from tests.fakes.confluence_library import ConfluenceLibrary
from tests.fakes.faults import PASSING, Fault, Faults, no_faults
from tests.services.test_worker import Factory

PAGES = 210
FAULTS = 1000


@pytest.fixture
def fake():
    with FakeConfluence(cloud=True) as site:
        for key in ("DOC", "HR"):
            site.add_space(key)
        top = site.add("DOC", "Top", "<p>the text w0</p>")
        for number in range(1, PAGES - 20):
            site.add("DOC", f"Page {number}", f"<p>the text w{number}</p>", top)
        for number in range(20):
            site.add("HR", f"Rule {number}", f"<p>the rule w{number}</p>")
        yield site
    assert site.refused == []


@pytest.fixture
def held(fake, tmp_path):
    return ConfluenceLibrary(fake, tmp_path / "data", Wanted())


def edit_all(fake, text):
    for number, id in enumerate(fake.visible()):
        fake.edit(id, f"<p>{text} w{number}</p>")


def test_of_a_thousand_faults_none_loses_or_duplicates_a_page(fake, held):
    fake.faults = Faults(5, 0.5, PASSING, slow_seconds=0)
    rounds = 0
    while fake.faults.counts.total() < FAULTS:
        report, _ = held.load()
        assert report.state is ImportState.COMPLETED
        assert len(report.items) == PAGES
        assert held.pages() == fake.visible()
        edit_all(fake, f"round {rounds}")
        rounds += 1
    assert set(fake.faults.counts) == set(PASSING)
    assert held.waits, "the loader asked for patience"
    assert held.library.check().agrees


def test_an_unchanged_site_costs_a_listing_and_embeds_nothing(fake, held):
    _, first = held.load()
    report, asked = held.load()
    assert report.count(Outcome.UNCHANGED) == PAGES
    assert report.passages_embedded == 0
    assert [one.path.removeprefix(fake.context) for one in asked] == [
        "/rest/api/user/current",
        "/rest/api/content/search",
        "/rest/api/content/search",
    ]
    assert len(first) == len(asked) + PAGES


def test_a_worker_leaves_an_import_without_a_network_and_goes_on_with_it_later(fake, tmp_path):
    held = ConfluenceLibrary(fake, tmp_path / "other", Wanted())
    factory = Factory(tmp_path / "data", held.loader())
    job = factory.enqueue()
    fake.unplug_after = PAGES // 2
    factory.run_next()
    left = factory.queue.get(job)
    assert (left.state, left.ended) == (ImportState.INTERRUPTED, False)
    assert "can't be reached" in left.message
    assert 0 < len(factory.library.texts()) < PAGES

    fake.plug()
    before = len(fake.requests)
    assert factory.enqueue() == job, "the one that rests is gone on with"
    factory.run_next()
    done = factory.queue.get(job)
    assert (done.state, done.counts) == (ImportState.COMPLETED, {"new": PAGES})
    texts = {key: f"<p>{text}</p>" for key, text in factory.library.texts().items()}
    assert texts == {id: page.text for id, page in fake.visible().items()}
    assert len(fake.requests) - before < PAGES, "what was read is not read again"


def test_a_login_page_in_the_middle_ends_the_import_and_removes_nothing(fake, held):
    held.load()
    before = held.pages()
    edit_all(fake, "another")
    fake.faults = Faults(1, 1, [Fault.LOGIN_PAGE], only=lambda asked: "body.storage" in asked)
    with pytest.raises(SourceError, match="sign in"):
        held.load()
    assert held.pages() == before
    fake.faults = no_faults()
    held.load()
    assert held.pages() == fake.visible()


def test_a_space_that_the_account_sees_no_more_is_kept_until_a_person_confirms(fake, held):
    held.load()
    before = held.pages()
    fake.hide_space("HR")
    held.confirm = lambda: False
    report, _ = held.load()
    assert report.state is ImportState.NEEDS_CONFIRMATION
    named = [item.reason for item in report.items if item.outcome is Outcome.KEPT]
    assert len(named) == 20
    assert all("HR" in reason and TO_CONFIRM in reason for reason in named)
    assert held.pages() == before
    fake.hide_space("HR", False)
    report, _ = held.load()
    assert report.state is ImportState.COMPLETED


def test_a_space_that_was_deleted_goes_once_a_person_confirms_it(fake, held):
    held.load()
    fake.delete_space("HR")
    report, _ = held.load()
    assert (report.state, report.count(Outcome.GONE)) == (ImportState.COMPLETED, 20)
    assert held.pages() == fake.visible()


def test_most_of_a_site_gone_at_once_waits_for_a_confirmation(fake, held):
    held.load()
    for id, page in fake.visible().items():
        if page.space == "DOC":
            fake.trash(id)
    asked_for = []
    held.confirm = lambda: asked_for.append(len(held.pages())) or True
    report, _ = held.load()
    assert asked_for == [PAGES]
    assert report.count(Outcome.GONE) == PAGES - 20
    assert held.pages() == fake.visible()


def test_nothing_is_lost_while_the_site_can_not_be_reached(fake, held):
    held.load()
    before = held.pages()
    fake.unplug()
    with pytest.raises(SourceUnavailableError):
        held.load()
    assert held.pages() == before
