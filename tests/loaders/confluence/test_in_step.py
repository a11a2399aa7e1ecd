"""After any edits of a site, incremental imports give the same library as a fresh import."""

import pytest

from domain.errors import SourceUnavailableError
from loaders.confluence.confluence_loader import Deletions
from loaders.confluence.confluence_selection import ConfluenceSelection, Scope
from tests.fakes.confluence_people_at_work import PeopleAtWork
from tests.fakes.faults import Faults, no_faults
from tests.loaders.confluence.reading import Library, pages_of

pytestmark = pytest.mark.slow

IMPORTS, STEPS = 5, 6
SELECTIONS = {
    "everything": ConfluenceSelection(attachments=True, comments=True),
    "a space": ConfluenceSelection(
        Scope.SPACES, spaces=("DOC",), skip_labels=("black",), attachments=True
    ),
    "labels": ConfluenceSelection(Scope.LABELS, page_labels=("red", "black"), comments=True),
    "a query": ConfluenceSelection(Scope.CQL, cql="label = red or space = HR", attachments=True),
}


def work(people):
    for _ in range(STEPS):
        people.step()


def fresh_library(fake, selection):
    library = Library()
    library.update(pages_of(fake, selection))
    return library


def assert_equal(library, other):
    assert library.refs == other.refs
    assert library.documents == other.documents


@pytest.mark.parametrize("selection", SELECTIONS.values(), ids=SELECTIONS)
def test_after_every_import_the_library_equals_a_fresh_import(fake, selection):
    people, library = PeopleAtWork(fake, seed=7), Library()
    for _ in range(IMPORTS):
        work(people)
        library.update(pages_of(fake, selection))
        assert_equal(library, fresh_library(fake, selection))


def test_faults_and_outages_lose_nothing(fake):
    selection, library = SELECTIONS["everything"], Library()
    people, outages = PeopleAtWork(fake, seed=3), 0
    for step in range(IMPORTS * 3):
        work(people)
        fake.faults = Faults(seed=step, share=0.2, slow_seconds=0)
        fake.unplug_after = 5 if step % 3 == 2 else None
        try:
            library.update(pages_of(fake, selection))
        except SourceUnavailableError:
            outages += 1
            fake.plug()
        fake.unplug_after = None
        fake.faults = no_faults()
    assert outages > 3
    library.update(pages_of(fake, selection))
    assert_equal(library, fresh_library(fake, selection))


def test_a_daily_listing_finds_changes_that_edits_do_not_reveal(fake):
    selection, library = SELECTIONS["everything"], Library()
    people = PeopleAtWork(fake, seed=5)
    for _ in range(2):
        for _ in range(IMPORTS):
            work(people)
            library.update(pages_of(fake, selection, deletions=Deletions.DAILY))
        library.cursor = {}  # a day later
        library.update(pages_of(fake, selection, deletions=Deletions.DAILY))
        assert_equal(library, fresh_library(fake, selection))
