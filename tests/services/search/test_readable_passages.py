"""Texts are read with the permissions of the moment, not with those of the search."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from domain import Principal, SearchChoice, SearchMode
from services.search.scoped_documents import ScopedDocuments
from services.search.search_service import SearchService
from storage.ledger.document_list_store import Titles
from storage.ledger.document_store import Documents
from storage.ledger.restriction_store import source_restriction

pytestmark = pytest.mark.usefixtures("ledger_kind")

ANNA = Principal("anna", frozenset({"staff"}))
HR = frozenset({"group:hr"})


@dataclass
class Interrupted:
    """The ledger's documents; a change of permissions is committed before texts are read."""

    documents: Documents
    change: Callable[[], None]

    def __getattr__(self, name):
        return getattr(self.documents, name)

    def hydrate(self, passage_ids):
        self.change()
        return self.documents.hydrate(passage_ids)

    def neighbors(self, passage_ids, n):
        self.change()
        return self.documents.neighbors(passage_ids, n)


class Changing:
    """A library in which a restriction is added between the search and the reading."""

    def __init__(self, services):
        self.services = services
        [page] = self.search().search(ANNA, "employees leave", mode=SearchMode.BM25, k=1)
        self.page, self.passage = page.metadata["document_id"], page.id
        self.source = page.metadata["source_id"]
        restrictions = services.access.restrictions
        self.changes = {
            "document": lambda: restrictions.restrict_documents({self.page: [HR]}),
            "source": lambda: restrictions.restrict(source_restriction(self.source), HR),
        }

    def search(self, change=lambda: None):
        services = self.services
        documents = Interrupted(services.library.documents, change)
        return SearchService(replace(services.library, documents=documents), services.search.mode)

    def scoped(self, change):
        titles = Titles(self.services.parts.database)
        choice = SearchChoice(mode=SearchMode.BM25)
        return ScopedDocuments(self.search(change), titles, ANNA, choice)


@pytest.fixture
def changing(imported):
    return Changing(imported(embed=True))


@pytest.mark.parametrize("name", ["document", "source"])
@pytest.mark.parametrize("mode", [SearchMode.BM25, SearchMode.SIMILARITY])
def test_a_document_that_becomes_hidden_during_a_search_is_not_in_its_result(changing, name, mode):
    found = changing.search(changing.changes[name]).search(ANNA, "employees leave", mode=mode, k=9)
    assert changing.page not in {one.metadata["document_id"] for one in found}


@pytest.mark.parametrize("name", ["document", "source"])
def test_a_named_document_that_becomes_hidden_before_it_is_read_is_not_read(changing, name):
    assert changing.scoped(lambda: None).known(changing.page)
    scoped = changing.scoped(changing.changes[name])
    assert scoped.named("leave policy") == []


@pytest.mark.parametrize("name", ["document", "source"])
def test_a_passage_is_not_widened_with_the_text_of_a_document_that_is_hidden_now(changing, name):
    assert changing.search().passages(ANNA).neighbors([changing.passage], 1)
    passages = changing.search(changing.changes[name]).passages(ANNA)
    assert passages.neighbors([changing.passage], 1) == {}
