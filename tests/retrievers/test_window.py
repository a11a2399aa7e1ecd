"""Hits extended by their neighboring passages, over a real import."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.retrievers import BaseRetriever
from langchain_tests.integration_tests import RetrieversIntegrationTests

from domain import Passage
from retrievers.passage_retrievers import WindowRetriever
from tests.fakes.library import DictLoader, Library

SECTION = "연차 휴가는 15일입니다. 🎉 Unused days lapse in March. 新入社員は12日。 "
TEXTS = {
    f"{name}.md": "\n\n".join(f"# {name}\n\n## Rule {n}\n\n{SECTION * 9}" for n in range(4))
    for name in ("leave", "travel")
}


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    library = Library(tmp_path_factory.mktemp("data"), size=200, overlap=40)
    library.load(DictLoader(TEXTS))
    return library


@pytest.fixture(scope="module")
def ids(library):
    """Passage ids in order, one document after the other."""
    index_id = library.indexes.active().id
    documents = library.documents.list()
    return [p.id for d in documents for p in library.documents.passages(d.id, index_id)]


class Fixed(BaseRetriever):
    """Returns the passages with these ids, scored by their rank."""

    documents: object
    ids: list[str]

    def _get_relevant_documents(self, query, *, run_manager, k=5):
        results = self.documents.hydrate(self.ids[:k])
        for rank, document in enumerate(results, start=1):
            document.metadata["score"] = 1 / rank
        return results


def build(library, ids, **options):
    base = Fixed(documents=library.documents, ids=ids)
    return WindowRetriever(base=base, neighbors=library.documents.neighbors, **options)


def span(document):
    return document.metadata["start"], document.metadata["end"]


def overlap(one, other):
    same = one.metadata["document_id"] == other.metadata["document_id"]
    return same and max(span(one)[0], span(other)[0]) < min(span(one)[1], span(other)[1])


class TestWindowRetriever(RetrieversIntegrationTests):
    @pytest.fixture(autouse=True)
    def _far_apart(self, library, ids):
        self.params = {
            "base": Fixed(documents=library.documents, ids=ids[::6]),
            "neighbors": library.documents.neighbors,
        }

    @property
    def retriever_constructor(self):
        return WindowRetriever

    @property
    def retriever_constructor_params(self):
        return self.params

    @property
    def retriever_query_example(self):
        return "leave"


@given(data=st.data(), passages=st.integers(0, 4), max_chars=st.integers(50, 3000))
def test_every_window_is_an_exact_excerpt_that_contains_its_hits(
    library, ids, data, passages, max_chars
):
    hits = data.draw(st.lists(st.sampled_from(ids), unique=True, max_size=8))
    plain = build(library, hits, k=8).base.invoke("leave", k=8)
    results = build(library, hits, k=8, passages=passages, max_chars=max_chars).invoke("leave")

    ranks = [hits.index(document.id) for document in results]
    assert ranks == sorted(ranks), "the better hit determines the rank"
    for document in results:
        text = library.documents.text(document.metadata["document_id"])
        assert document.page_content == text[slice(*span(document))]
        assert len(document.page_content) <= max(max_chars, 200)
        assert document.metadata["score"] == 1 / (hits.index(document.id) + 1)
    for hit in plain:
        windows = [
            document
            for document in results
            if hit.id in [inner["id"] for inner in document.metadata.get("window", [])]
            or hit.id == document.id
        ]
        assert len(windows) == 1
        assert span(windows[0])[0] <= span(hit)[0] < span(hit)[1] <= span(windows[0])[1]
    for one, other in combinations(results, 2):
        if overlap(one, other) and {"window"} <= one.metadata.keys() & other.metadata.keys():
            both = *span(one), *span(other)
            assert max(both) - min(both) > max_chars, "they could have been merged"


def test_overlapping_windows_are_merged_at_the_rank_of_the_better_hit(library, ids):
    far, better, worse = ids[15], ids[4], ids[2]
    results = build(library, [far, better, worse]).invoke("leave")
    assert [document.id for document in results] == [far, better]
    assert results[1].metadata["score"] == 1 / 2
    assert results[1].metadata["ordinal"] == 1
    plain = {document.id: document for document in library.documents.hydrate([better, worse])}
    assert results[1].metadata["window"] == [
        {"id": id_, "start": span(plain[id_])[0], "end": span(plain[id_])[1]}
        for id_ in (better, worse)
    ]


def test_a_hit_between_two_windows_joins_them(library, ids):
    results = build(library, [ids[2], ids[8], ids[5]], k=3, passages=2).invoke("leave")
    assert [document.id for document in results] == [ids[2]]
    assert [hit["id"] for hit in results[0].metadata["window"]] == [ids[2], ids[8], ids[5]]


def test_windows_of_different_documents_are_not_merged(library, ids):
    half = len(ids) // 2
    results = build(library, [ids[half - 1], ids[half]]).invoke("leave")
    assert [document.id for document in results] == [ids[half - 1], ids[half]]
    assert {document.metadata["key"] for document in results} == {"leave.md", "travel.md"}


def test_a_window_that_is_too_long_has_fewer_neighbors(library, ids):
    windows = {n: library.documents.neighbors([ids[9]], n)[ids[9]] for n in (1, 2, 3)}
    room = len(windows[2].text)
    assert len(windows[1].text) < room < len(windows[3].text)
    results = build(library, [ids[9]], passages=3, max_chars=room).invoke("leave")
    assert results[0].page_content == windows[2].text


def test_a_hit_without_room_for_neighbors_is_unchanged(library, ids):
    plain = Fixed(documents=library.documents, ids=[ids[9]]).invoke("leave")
    assert build(library, [ids[9]], max_chars=1).invoke("leave") == plain
    assert build(library, [ids[9]], passages=0).invoke("leave") == plain


def test_a_hit_in_a_reimported_document_is_unchanged(library, ids):
    base = Fixed(documents=library.documents, ids=ids[:1])
    retriever = WindowRetriever(base=base, neighbors=lambda _ids, _n: {})
    assert retriever.invoke("leave") == base.invoke("leave")


def test_the_documents_of_the_base_are_not_modified():
    base = Fixed(documents=None, ids=[])
    passage = Passage("p", "d", 0, 5, 9, "text")
    window = Passage("p", "d", 0, 0, 14, "more text here")

    class SameDocument(BaseRetriever):
        def _get_relevant_documents(self, query, *, run_manager, k=5):
            return [document]

    from langchain_core.documents import Document

    metadata = {"document_id": "d", "start": passage.start, "end": passage.end}
    document = Document(passage.text, id="p", metadata=dict(metadata))
    retriever = WindowRetriever(base=SameDocument(), neighbors=lambda _ids, _n: {"p": window})
    assert retriever.invoke("leave")[0].page_content == "more text here"
    assert (document.page_content, document.metadata) == ("text", metadata)
    assert base.ids == []


async def test_async_calls_accept_k(library, ids):
    retriever = build(library, ids[::6])
    assert await retriever.ainvoke("leave", k=2) == retriever.invoke("leave", k=2)
    assert len(await retriever.ainvoke("leave", k=2)) == 2


@pytest.mark.parametrize("options", [{"k": 0}, {"passages": -1}, {"max_chars": 0}])
def test_invalid_options_are_rejected(library, options):
    with pytest.raises(ValueError):
        build(library, [], **options)
    with pytest.raises(ValueError, match="k must be at least 1"):
        build(library, []).invoke("leave", k=0)
