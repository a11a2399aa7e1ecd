import pytest

from domain import utc_text
from domain.errors import NotFoundError
from storage.ledger.document_store import document_id
from tests.fakes.library import DictLoader, filled_library

pytestmark = pytest.mark.usefixtures("ledger_kind")

TEXT = "# 휴가 규정\n\n" + "연차 휴가는 15일입니다. 🎉 회사는 휴가를 줍니다. " * 30


@pytest.fixture
def library(tmp_path):
    return filled_library(
        tmp_path, {"handbook/leave.md": TEXT, "b.txt": "short", "a.txt": "shorter"}
    )


def passages_of(library, key):
    index_id = library.indexes.active().id
    return library.documents.passages(document_id(library.source.id, key), index_id)


def test_hydrated_passages_are_exact_and_in_the_requested_order(library):
    passages = passages_of(library, "handbook/leave.md")
    passage_ids = [passages[2].id, passages_of(library, "b.txt")[0].id, passages[0].id]
    hydrated = library.documents.hydrate(passage_ids)

    assert [passage.id for passage in hydrated] == passage_ids
    assert len(passages) > 3
    for passage in hydrated:
        text = library.documents.text(passage.metadata["document_id"])
        span = slice(passage.metadata["start"], passage.metadata["end"])
        assert passage.page_content == text[span]
    assert hydrated[0].metadata == {
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


def test_unknown_passages_are_not_hydrated(library):
    known = passages_of(library, "b.txt")[0].id
    hydrated = library.documents.hydrate(["unknown", known, "unknown too"])
    assert [passage.id for passage in hydrated] == [known]


def test_more_passages_than_sql_parameters_can_be_hydrated(library):
    known = passages_of(library, "b.txt")[0].id
    passage_ids = [f"unknown {n}" for n in range(40_000)]
    assert len(library.documents.hydrate([*passage_ids, known])) == 1


def test_passages_stay_available_while_another_index_is_built(library):
    known = passages_of(library, "b.txt")[0].id
    counts = []
    library.reindex(on_progress=lambda _: counts.append(len(library.documents.hydrate([known]))))
    assert set(counts) == {1}
    assert passages_of(library, "b.txt")[0].id == known, "the same settings give the same ids"


def test_documents_are_listed_by_key_page_by_page(library):
    keys = [document.key for document in library.documents.list()]
    assert keys == ["a.txt", "b.txt", "handbook/leave.md"]
    assert [d.key for d in library.documents.list(library.source.id, limit=1, offset=1)] == [
        "b.txt"
    ]
    assert library.documents.list("another source") == []
    assert library.documents.count() == 3


def test_an_updated_document_keeps_its_id_and_increments_its_revision(library):
    before = library.documents.get(document_id(library.source.id, "b.txt"))
    library.load(DictLoader({"handbook/leave.md": TEXT, "b.txt": "changed", "a.txt": "shorter"}))
    after = library.documents.get(before.id)

    assert (before.revision, after.revision) == (1, 2)
    assert before.version != after.version
    assert library.documents.text(after.id) == "changed"


def test_removed_documents_raise_not_found(library):
    removed_id = document_id(library.source.id, "b.txt")
    library.load(DictLoader({"handbook/leave.md": TEXT, "a.txt": "shorter"}))
    for call in (library.documents.get, library.documents.text):
        with pytest.raises(NotFoundError, match=removed_id):
            call(removed_id)


def test_document_ids_can_be_limited_to_those_missing_in_an_index(library):
    everything = list(library.documents.ids())
    assert len(everything) == 3
    assert list(library.documents.ids(missing_in=library.indexes.active().id)) == []
    assert list(library.documents.ids(missing_in="a new one")) == everything


def test_document_ids_are_looked_up_by_passage_id(library):
    known = [*passages_of(library, "b.txt"), *passages_of(library, "handbook/leave.md")]
    passage_ids = [*(passage.id for passage in known), "unknown", *map(str, range(1000))]
    assert library.documents.of_passages(passage_ids) == {
        passage.id: passage.document_id for passage in known
    }
