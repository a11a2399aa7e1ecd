"""Hits widened by the passages around them, over a real import."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.retrievers import BaseRetriever
from langchain_tests.integration_tests import RetrieversIntegrationTests

from domain import Passage
from retrievers.passages import WindowRetriever
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
    """Those of one document in order, then those of the other."""
    index_id = library.indexes.active().id
    documents = library.documents.list()
    return [p.id for d in documents for p in library.documents.passages(d.id, index_id)]


class Fixed(BaseRetriever):
    """Gives the passages with these ids, scored by their rank."""

    documents: object
    ids: list[str]

    def _get_relevant_documents(self, query, *, run_manager, k=5):
        found = self.documents.hydrate(self.ids[:k])
        for rank, document in enumerate(found, start=1):
            document.metadata["score"] = 1 / rank
        return found


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
def test_every_window_is_an_exact_stretch_that_holds_its_hits(
    library, ids, data, passages, max_chars
):
    hits = data.draw(st.lists(st.sampled_from(ids), unique=True, max_size=8))
    plain = build(library, hits, k=8).base.invoke("leave", k=8)
    found = build(library, hits, k=8, passages=passages, max_chars=max_chars).invoke("leave")

    ranks = [hits.index(document.id) for document in found]
    assert ranks == sorted(ranks), "the better hit gives the place"
    for document in found:
        text = library.documents.text(document.metadata["document_id"])
        assert document.page_content == text[slice(*span(document))]
        assert len(document.page_content) <= max(max_chars, 200)
        assert document.metadata["score"] == 1 / (hits.index(document.id) + 1)
    for hit in plain:
        holders = [
            document
            for document in found
            if hit.id in [inner["id"] for inner in document.metadata.get("window", [])]
            or hit.id == document.id
        ]
        assert len(holders) == 1
        assert span(holders[0])[0] <= span(hit)[0] < span(hit)[1] <= span(holders[0])[1]
    for one, other in combinations(found, 2):
        if overlap(one, other) and {"window"} <= one.metadata.keys() & other.metadata.keys():
            both = *span(one), *span(other)
            assert max(both) - min(both) > max_chars, "they could have been one"


def test_windows_that_overlap_become_one_in_the_place_of_the_better_hit(library, ids):
    far, better, worse = ids[15], ids[4], ids[2]
    found = build(library, [far, better, worse]).invoke("leave")
    assert [document.id for document in found] == [far, better]
    assert found[1].metadata["score"] == 1 / 2
    assert found[1].metadata["ordinal"] == 1
    plain = {document.id: document for document in library.documents.hydrate([better, worse])}
    assert found[1].metadata["window"] == [
        {"id": id_, "start": span(plain[id_])[0], "end": span(plain[id_])[1]}
        for id_ in (better, worse)
    ]


def test_a_hit_between_two_windows_joins_them(library, ids):
    found = build(library, [ids[2], ids[8], ids[5]], k=3, passages=2).invoke("leave")
    assert [document.id for document in found] == [ids[2]]
    assert [hit["id"] for hit in found[0].metadata["window"]] == [ids[2], ids[8], ids[5]]


def test_windows_of_two_documents_stay_two(library, ids):
    half = len(ids) // 2
    found = build(library, [ids[half - 1], ids[half]]).invoke("leave")
    assert [document.id for document in found] == [ids[half - 1], ids[half]]
    assert {document.metadata["key"] for document in found} == {"leave.md", "travel.md"}


def test_a_window_too_long_gets_fewer_neighbors(library, ids):
    windows = {n: library.documents.neighbors([ids[9]], n)[ids[9]] for n in (1, 2, 3)}
    room = len(windows[2].text)
    assert len(windows[1].text) < room < len(windows[3].text)
    found = build(library, [ids[9]], passages=3, max_chars=room).invoke("leave")
    assert found[0].page_content == windows[2].text


def test_with_no_room_at_all_the_hit_stays_as_it_is(library, ids):
    plain = Fixed(documents=library.documents, ids=[ids[9]]).invoke("leave")
    assert build(library, [ids[9]], max_chars=1).invoke("leave") == plain
    assert build(library, [ids[9]], passages=0).invoke("leave") == plain


def test_a_hit_whose_document_was_imported_anew_meanwhile_stays_as_it_is(library, ids):
    base = Fixed(documents=library.documents, ids=ids[:1])
    retriever = WindowRetriever(base=base, neighbors=lambda _ids, _n: {})
    assert retriever.invoke("leave") == base.invoke("leave")


def test_the_documents_given_are_not_touched():
    base = Fixed(documents=None, ids=[])
    given_ = Passage("p", "d", 0, 5, 9, "text")
    wide = Passage("p", "d", 0, 0, 14, "more text here")

    class Keeping(BaseRetriever):
        def _get_relevant_documents(self, query, *, run_manager, k=5):
            return [document]

    from langchain_core.documents import Document

    metadata = {"document_id": "d", "start": given_.start, "end": given_.end}
    document = Document(given_.text, id="p", metadata=dict(metadata))
    retriever = WindowRetriever(base=Keeping(), neighbors=lambda _ids, _n: {"p": wide})
    assert retriever.invoke("leave")[0].page_content == "more text here"
    assert (document.page_content, document.metadata) == ("text", metadata)
    assert base.ids == []


async def test_k_is_taken_asynchronously_too(library, ids):
    retriever = build(library, ids[::6])
    assert await retriever.ainvoke("leave", k=2) == retriever.invoke("leave", k=2)
    assert len(await retriever.ainvoke("leave", k=2)) == 2


@pytest.mark.parametrize("options", [{"k": 0}, {"passages": -1}, {"max_chars": 0}])
def test_what_makes_no_sense_is_refused(library, options):
    with pytest.raises(ValueError):
        build(library, [], **options)
    with pytest.raises(ValueError, match="k must be at least 1"):
        build(library, []).invoke("leave", k=0)
