"""More hidden documents, each with other readers, than SQLite has variables in a statement."""

import pytest

from domain import DocumentFilter, Principal, SearchMode

HIDDEN = 40_000
ANNA = Principal("anna", frozenset({"staff"}))
BERT = Principal("bert", frozenset({"staff", "team 0"}))


@pytest.fixture
def services(imported):
    """The handbook, and restrictions of 40,000 documents of which one is in the library."""
    services = imported(embed=True)
    [passage] = services.search.search(ANNA, "employees leave", mode=SearchMode.BM25, k=1)
    ids = [passage.metadata["document_id"], *(f"{n:032x}" for n in range(1, HIDDEN))]
    services.access.restrictions.restrict_documents(
        {id_: [frozenset({f"group:team {n}"})] for n, id_ in enumerate(ids)}
    )
    services.hidden = ids
    return services


def test_lists_counts_and_searches_leave_out_all_of_them(services):
    documents, everything = services.documents, DocumentFilter()
    assert len(services.access.denied(ANNA).documents) == HIDDEN
    for principal, readable in ((ANNA, 3), (BERT, 4)):
        page = documents.page(principal, everything)
        assert (page.total, len(page.documents)) == (readable, readable)
        assert len(documents.ids(principal, everything)) == readable
        assert sum(one.documents for one in documents.contents(principal).sources) == readable
        assert sum(documents.by_passages(principal).values()) == readable
        assert services.library.status(principal).documents == readable
        [source] = services.sources.list(principal)
        assert source.figures.documents == readable
        assert services.choices.choices(principal).sources
        assert services.access.unreadable(principal, services.hidden[:1]) == (
            set() if principal is BERT else {services.hidden[0]}
        )


def test_searches_leave_out_all_of_them(services):
    for mode in SearchMode:
        found = services.search.search(ANNA, "employees leave", mode=mode, k=20)
        assert services.hidden[0] not in document_ids(found), mode
        found = services.search.search(BERT, "employees leave", mode=mode, k=20, score_threshold=0)
        assert services.hidden[0] in document_ids(found), mode


def document_ids(passages):
    return {one.metadata["document_id"] for one in passages}
