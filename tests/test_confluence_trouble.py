"""Imports from a failing or unreachable Confluence lose and duplicate nothing."""

import pytest

from domain import ImportState, Outcome
from domain.errors import SourceError, SourceUnavailableError
from loaders.confluence.confluence_selection import ConfluenceSelection
from services.imports.import_plan import TO_CONFIRM
from tests.fakes.confluence import FakeConfluence
from tests.fakes.confluence_library import ConfluenceLibrary
from tests.fakes.faults import TRANSIENT_FAULTS, Fault, Faults, no_faults
from tests.services.test_import_worker import Factory

pytestmark = pytest.mark.slow

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
def library(fake, tmp_path):
    return ConfluenceLibrary(fake, tmp_path / "data", ConfluenceSelection())


def edit_all(fake, text):
    for number, id in enumerate(fake.visible()):
        fake.edit(id, f"<p>{text} w{number}</p>")


def test_a_thousand_faults_lose_or_duplicate_no_page(fake, library):
    fake.faults = Faults(5, 0.5, TRANSIENT_FAULTS, slow_seconds=0)
    rounds = 0
    while fake.faults.counts.total() < FAULTS:
        report, _ = library.load()
        assert report.state is ImportState.COMPLETED
        assert len(report.items) == PAGES
        assert library.pages() == fake.visible()
        edit_all(fake, f"round {rounds}")
        rounds += 1
    assert set(fake.faults.counts) == set(TRANSIENT_FAULTS)
    assert library.waits, "the loader waited"
    assert library.library.check().agrees


def test_an_unchanged_site_is_listed_once_and_embeds_nothing(fake, library):
    _, first = library.load()
    report, requests = library.load()
    assert report.count(Outcome.UNCHANGED) == PAGES
    assert report.passages_embedded == 0
    assert [one.path.removeprefix(fake.context) for one in requests] == [
        "/rest/api/user/current",
        "/rest/api/content/search",
        "/rest/api/content/search",
    ]
    assert len(first) == len(requests) + PAGES


def test_a_worker_without_network_interrupts_the_import_and_resumes_it_later(fake, tmp_path):
    library = ConfluenceLibrary(fake, tmp_path / "other", ConfluenceSelection())
    factory = Factory(tmp_path / "data", library.loader())
    job = factory.enqueue()
    fake.unplug_after = PAGES // 2
    factory.run_next()
    interrupted = factory.queue.get(job)
    assert (interrupted.state, interrupted.ended) == (ImportState.INTERRUPTED, False)
    assert "can't be reached" in interrupted.message
    assert 0 < len(factory.library.texts()) < PAGES

    fake.plug()
    before = len(fake.requests)
    assert factory.enqueue() == job, "the interrupted import is resumed"
    factory.run_next()
    done = factory.queue.get(job)
    assert (done.state, done.counts) == (ImportState.COMPLETED, {"new": PAGES})
    texts = {key: f"<p>{text}</p>" for key, text in factory.library.texts().items()}
    assert texts == {id: page.text for id, page in fake.visible().items()}
    assert len(fake.requests) - before < PAGES, "imported pages are not read again"


def test_a_login_page_interrupts_the_import_and_removes_nothing(fake, library):
    library.load()
    before = library.pages()
    edit_all(fake, "another")
    fake.faults = Faults(1, 1, [Fault.LOGIN_PAGE], only=lambda request: "body.storage" in request)
    with pytest.raises(SourceError, match="a login page"):
        library.load()
    assert library.pages() == before
    fake.faults = no_faults()
    library.load()
    assert library.pages() == fake.visible()


def test_a_space_that_became_invisible_is_kept_until_removal_is_confirmed(fake, library):
    library.load()
    before = library.pages()
    fake.hide_space("HR")
    library.confirm = lambda: False
    report, _ = library.load()
    assert report.state is ImportState.NEEDS_CONFIRMATION
    reasons = [item.reason for item in report.items if item.outcome is Outcome.RETAINED]
    assert len(reasons) == 20
    assert all("HR" in reason and TO_CONFIRM in reason for reason in reasons)
    assert library.pages() == before
    fake.hide_space("HR", False)
    report, _ = library.load()
    assert report.state is ImportState.COMPLETED


def test_a_deleted_space_is_removed_once_confirmed(fake, library):
    library.load()
    fake.delete_space("HR")
    report, _ = library.load()
    assert (report.state, report.count(Outcome.REMOVED)) == (ImportState.COMPLETED, 20)
    assert library.pages() == fake.visible()


def test_removing_most_of_a_site_at_once_needs_confirmation(fake, library):
    library.load()
    for id, page in fake.visible().items():
        if page.space == "DOC":
            fake.trash(id)
    confirmations = []
    library.confirm = lambda: confirmations.append(len(library.pages())) or True
    report, _ = library.load()
    assert confirmations == [PAGES]
    assert report.count(Outcome.REMOVED) == PAGES - 20
    assert library.pages() == fake.visible()


def test_an_unreachable_site_loses_nothing(fake, library):
    library.load()
    before = library.pages()
    fake.unplug()
    with pytest.raises(SourceUnavailableError):
        library.load()
    assert library.pages() == before
