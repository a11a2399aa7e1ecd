"""Whatever people do to a site, a library that is kept in step equals one imported afresh."""

import pytest

from errors import SourceUnavailableError
from loaders.confluence.confluence_loader import Deletions
from loaders.confluence.confluence_selection import ConfluenceSelection, Scope
from tests.fakes.confluence_people_at_work import PeopleAtWork
from tests.fakes.faults import Faults, no_faults
from tests.loaders.confluence.reading import Library, pages_of

IMPORTS, STEPS = 5, 6
CHOICES = {
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


def afresh(fake, wanted):
    library = Library()
    library.update(pages_of(fake, wanted))
    return library


def same(library, other):
    assert library.refs == other.refs
    assert library.documents == other.documents


@pytest.mark.parametrize("wanted", CHOICES.values(), ids=CHOICES)
def test_after_every_import_the_library_equals_the_site(fake, wanted):
    people, library = PeopleAtWork(fake, seed=7), Library()
    for _ in range(IMPORTS):
        work(people)
        library.update(pages_of(fake, wanted))
        same(library, afresh(fake, wanted))


def test_faults_and_a_network_that_goes_away_lose_nothing(fake):
    wanted, library = CHOICES["everything"], Library()
    people, outages = PeopleAtWork(fake, seed=3), 0
    for step in range(IMPORTS * 3):
        work(people)
        fake.faults = Faults(seed=step, share=0.2, slow_seconds=0)
        fake.unplug_after = 5 if step % 3 == 2 else None
        try:
            library.update(pages_of(fake, wanted))
        except SourceUnavailableError:
            outages += 1
            fake.plug()
        fake.unplug_after = None
        fake.faults = no_faults()
    assert outages > 3
    library.update(pages_of(fake, wanted))
    same(library, afresh(fake, wanted))


def test_a_daily_listing_puts_right_what_edits_alone_do_not_show(fake):
    wanted, library = CHOICES["everything"], Library()
    people = PeopleAtWork(fake, seed=5)
    for _ in range(2):
        for _ in range(IMPORTS):
            work(people)
            library.update(pages_of(fake, wanted, deletions=Deletions.DAILY))
        library.cursor = {}  # a day later
        library.update(pages_of(fake, wanted, deletions=Deletions.DAILY))
        same(library, afresh(fake, wanted))
