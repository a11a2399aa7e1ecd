import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.ledger.restriction_store import (
    Restrictions,
    collection_restriction,
    source_restriction,
)
from tests.postgresql.fixtures import only_sqlite
from tests.postgresql.ledgers import open_ledger

pytestmark = pytest.mark.usefixtures("ledger_kind")

WIKI = source_restriction("wiki")
ADA, STAFF, HR = "user:ada", "group:staff", "group:hr"


@pytest.fixture
def restrictions(tmp_path):
    return Restrictions(open_ledger(tmp_path))


def denied_documents(restrictions, *readers):
    return restrictions.denied(frozenset(readers)).documents


def test_what_has_no_restriction_is_denied_to_nobody(restrictions):
    assert restrictions.readers(WIKI) is None
    assert restrictions.denied(frozenset()) == (frozenset(), frozenset())


def test_a_restriction_is_denied_to_everyone_who_is_none_of_its_readers(restrictions):
    restrictions.restrict(WIKI, [ADA, STAFF])
    restrictions.restrict(collection_restriction("HR"), [HR])
    assert restrictions.readers(WIKI) == {ADA, STAFF}
    assert restrictions.denied(frozenset([STAFF])).restrictions == {"collection:HR"}
    assert restrictions.denied(frozenset([HR])).restrictions == {"source:wiki"}
    assert restrictions.denied(frozenset([ADA, HR])).restrictions == frozenset()


def test_a_restriction_without_readers_is_denied_to_everyone(restrictions):
    restrictions.restrict(WIKI, [])
    assert restrictions.readers(WIKI) == frozenset()
    assert WIKI in restrictions.denied(frozenset([ADA, STAFF, HR])).restrictions


def test_a_change_counts_at_once_in_every_process(restrictions, tmp_path):
    other = Restrictions(open_ledger(tmp_path))
    restrictions.restrict(WIKI, [HR])
    assert WIKI in other.denied(frozenset([ADA])).restrictions
    restrictions.restrict(WIKI, [ADA])
    assert WIKI not in other.denied(frozenset([ADA])).restrictions
    restrictions.restrict(WIKI, None)
    assert other.readers(WIKI) is None


def test_a_document_with_several_restrictions_is_denied_unless_a_reader_is_in_each(restrictions):
    restrictions.restrict_documents({"page": [frozenset([STAFF]), frozenset([ADA, HR])]})
    assert denied_documents(restrictions, STAFF) == {"page"}
    assert denied_documents(restrictions, ADA) == {"page"}
    assert denied_documents(restrictions, STAFF, ADA) == frozenset()
    of_page = restrictions.of_documents(["page"])["page"]
    assert sorted(map(sorted, of_page)) == [[HR, ADA], [STAFF]]


def test_restrictions_of_a_document_are_replaced(restrictions):
    restrictions.restrict_documents({"page": [frozenset([HR])], "other": [frozenset()]})
    assert denied_documents(restrictions, ADA) == {"page", "other"}
    restrictions.restrict_documents({"page": []})
    assert denied_documents(restrictions, ADA) == {"other"}


READERS = st.frozensets(st.sampled_from([ADA, STAFF, HR]))


@only_sqlite
@given(st.dictionaries(st.sampled_from("abc"), st.lists(READERS, max_size=3)), READERS)
def test_exactly_those_documents_are_denied_that_have_a_restriction_without_the_reader(
    tmp_path_factory, by_document, readers
):
    restrictions = Restrictions(open_ledger(tmp_path_factory.mktemp("ledger")))
    restrictions.restrict_documents(by_document)
    expected = {
        document
        for document, several in by_document.items()
        if any(readers.isdisjoint(one) for one in several)
    }
    assert denied_documents(restrictions, *readers) == expected


def test_a_restriction_that_no_document_has_any_more_is_deleted(restrictions):
    staff, hr = frozenset([STAFF]), frozenset([HR])
    restrictions.restrict(WIKI, [HR])
    restrictions.restrict_documents({"a": [staff, hr], "b": [hr]})
    restrictions.restrict_documents({"a": [frozenset([ADA])]})
    denied = restrictions.denied(frozenset())
    assert len(denied.restrictions) == 3  # of the source, and of each document
    assert denied.documents == {"a", "b"}
    assert restrictions.of_documents(["a", "b", "c"]) == {
        "a": {frozenset([ADA])},
        "b": {hr},
    }
