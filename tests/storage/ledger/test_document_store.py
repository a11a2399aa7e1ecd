import pytest

from errors import NotFoundError
from storage.ledger.document_store import document_id, utc_text
from tests.fakes.library import DictLoader, Library

TEXT = "# 휴가 규정\n\n" + "연차 휴가는 15일입니다. 🎉 회사는 휴가를 줍니다. " * 30


@pytest.fixture
def library(tmp_path):
    library = Library(tmp_path)
    library.load(DictLoader({"handbook/leave.md": TEXT, "b.txt": "short", "a.txt": "shorter"}))
    return library


def passages_of(library, key):
    index_id = library.indexes.active().id
    return library.documents.passages(document_id(library.source.id, key), index_id)


def test_hydrated_passages_are_exact_and_in_the_order_asked(library):
    passages = passages_of(library, "handbook/leave.md")
    asked = [passages[2].id, passages_of(library, "b.txt")[0].id, passages[0].id]
    found = library.documents.hydrate(asked)

    assert [passage.id for passage in found] == asked
    assert len(passages) > 3
    for passage in found:
        text = library.documents.text(passage.metadata["document_id"])
        place = slice(passage.metadata["start"], passage.metadata["end"])
        assert passage.page_content == text[place]
    assert found[0].metadata == {
        "document_id": document_id(library.source.id, "handbook/leave.md"),
        "source_id": library.source.id,
        "key": "handbook/leave.md",
        "title": "leave.md",
        "location": "/docs/handbook/leave.md",
        "version": library.documents.get(passages[0].document_id).version,
        "format": "txt",
        "page": None,
        "heading_path": ["휴가 규정"],
        "start": passages[2].start,
        "end": passages[2].end,
        "ordinal": 2,
        "collection": "docs",
        "labels": [],
        "modified_at": utc_text(library.documents.get(passages[0].document_id).imported_at),
    }


def test_a_passage_the_ledger_does_not_know_is_left_out(library):
    known = passages_of(library, "b.txt")[0].id
    found = library.documents.hydrate(["unknown", known, "unknown too"])
    assert [passage.id for passage in found] == [known]


def test_more_passages_than_a_statement_holds_can_be_asked_for(library):
    known = passages_of(library, "b.txt")[0].id
    asked = [f"unknown {n}" for n in range(40_000)]
    assert len(library.documents.hydrate([*asked, known])) == 1


def test_passages_of_an_index_that_is_being_built_stand_beside_those_that_answer(library):
    known = passages_of(library, "b.txt")[0].id
    seen = []
    library.reindex(on_progress=lambda _: seen.append(len(library.documents.hydrate([known]))))
    assert set(seen) == {1}
    assert passages_of(library, "b.txt")[0].id == known, "the same settings give the same ids"


def test_documents_are_listed_by_key_page_by_page(library):
    keys = [document.key for document in library.documents.list()]
    assert keys == ["a.txt", "b.txt", "handbook/leave.md"]
    assert [d.key for d in library.documents.list(library.source.id, limit=1, offset=1)] == [
        "b.txt"
    ]
    assert library.documents.list("another source") == []
    assert library.documents.count() == 3


def test_a_document_counts_its_versions_and_keeps_its_id(library):
    before = library.documents.get(document_id(library.source.id, "b.txt"))
    library.load(DictLoader({"handbook/leave.md": TEXT, "b.txt": "changed", "a.txt": "shorter"}))
    after = library.documents.get(before.id)

    assert (before.revision, after.revision) == (1, 2)
    assert before.version != after.version
    assert library.documents.text(after.id) == "changed"


def test_what_is_gone_is_not_found(library):
    gone = document_id(library.source.id, "b.txt")
    library.load(DictLoader({"handbook/leave.md": TEXT, "a.txt": "shorter"}))
    for call in (library.documents.get, library.documents.text):
        with pytest.raises(NotFoundError, match=gone):
            call(gone)


def test_ids_are_all_of_them_or_those_an_index_lacks(library):
    everything = list(library.documents.ids())
    assert len(everything) == 3
    assert list(library.documents.ids(missing_in=library.indexes.active().id)) == []
    assert list(library.documents.ids(missing_in="a new one")) == everything


def test_the_documents_of_passages_are_told_and_unknown_passages_left_out(library):
    known = [*passages_of(library, "b.txt"), *passages_of(library, "handbook/leave.md")]
    asked = [*(passage.id for passage in known), "unknown", *map(str, range(1000))]
    assert library.documents.of_passages(asked) == {one.id: one.document_id for one in known}
