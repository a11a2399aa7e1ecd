"""No search mode ever returns a passage that violates the condition."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain import FILTER_FIELDS, LOCAL_USER, Scope, SearchMode
from domain.errors import InputError
from domain.language.script import script_of
from services.search import search_service as whole
from services.search.ranking import RankingOptions
from services.search.search_service import SearchService
from services.texts import MAX_K
from storage.ledger.passage_finder import LedgerFilter
from tests.fakes.library import DictLoader, Library
from tests.quick import examples
from tests.storage.test_filters import holds

SOURCES = {
    "handbook": {},
    "wiki": {"collection": "HR", "labels": ["law"]},
    "drive": {"collection": "HR"},
}
DOCUMENTS = {
    "a.md": {"format": "md", "labels": ["old"], "modified_at": "2024-02-29T12:00:00Z"},
    "b.pdf": {"format": "pdf", "pages": [(0, 1), (150, 2), (400, 3)], "labels": ["old", "law"]},
    "c.txt": {"format": "txt", "modified_at": "2026-11-21T10:00:00Z"},
    "휴가.md": {"format": "md", "labels": ["휴가"], "modified_at": "2026-11-20T23:59:59Z"},
}
KOREAN = "leave 휴가는 열다섯 날입니다 그리고 남은 휴가는 없어집니다. "


@dataclass
class MetadataLoader(DictLoader):
    """Loads documents with the metadata that the test sets."""

    metadata: dict = field(default_factory=dict)

    def read(self, ref):
        document = super().read(ref)
        document.metadata |= self.metadata[ref.key]
        return document


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    library = Library(tmp_path_factory.mktemp("data"), size=150, overlap=20)
    for name, options in SOURCES.items():
        texts = {
            key: KOREAN * 6
            if key == "휴가.md"
            else f"Annual leave, {name} {key}, is for all. " * 12
            for key in DOCUMENTS
        }
        source = library.sources.ensure("directory", f"/{name}", name=name, options=options)
        library.load(MetadataLoader(texts, metadata=DOCUMENTS), source=source)
    return library


@pytest.fixture(scope="module")
def search(library):
    whole_library = whole.Library(
        library.documents,
        library.access,
        library.indexes,
        library.stores,
        library.maintenance,
        Path("nowhere"),
        LedgerFilter(library.database),
    )
    return SearchService(whole_library, options=RankingOptions(score_threshold=0.0))


@pytest.fixture(scope="module")
def passages(library):
    """The metadata of each passage in the ledger by its id; filters must agree with it."""
    hydrated = library.documents.hydrate(library.active.passages.ids())
    return {passage.id: filter_values(passage) for passage in hydrated}


def filter_values(passage):
    metadata = passage.metadata | {"script": script_of(passage.page_content)}
    return {name: metadata[name] for name in FILTER_FIELDS if metadata[name] is not None}


def conditions_over(passages):
    """Conditions on existing values, and on some that do not exist."""
    names = st.lists(st.sampled_from(sorted(FILTER_FIELDS)), max_size=3, unique=True)
    return names.flatmap(
        lambda some: st.fixed_dictionaries({name: condition_on(passages, name) for name in some})
    )


def condition_on(passages, name):
    existing = [metadata[name] for metadata in passages.values() if name in metadata]
    if name == "labels":
        label = st.sampled_from(["law", "old", "휴가", "none of them"])
        return st.one_of(
            st.sampled_from(existing),
            st.fixed_dictionaries({"$contains": label}),
            st.fixed_dictionaries({"$contains_any": st.lists(label, max_size=3)}),
        )
    value = st.sampled_from([*sorted(set(existing)), 7 if name == "page" else "nothing"])
    order = st.sampled_from(["$gt", "$gte", "$lt", "$lte"])
    return st.one_of(
        value,
        st.fixed_dictionaries({"$in": st.lists(value, max_size=3)}),
        st.dictionaries(order, value, min_size=1, max_size=2),
    )


def matching_ids(passages, condition):
    return {
        id_
        for id_, metadata in passages.items()
        if all(name in metadata and holds(metadata[name], one) for name, one in condition.items())
    }


def run(retriever, question, *, wait):
    results = asyncio.run(retriever.ainvoke(question)) if wait else retriever.invoke(question)
    return {passage.id for passage in results}


@pytest.mark.parametrize("mode", list(SearchMode))
@settings(max_examples=examples(40))
@given(data=st.data(), wait=st.booleans())
def test_a_search_finds_exactly_the_passages_that_satisfy_the_condition(
    search, passages, mode, data, wait
):
    condition = data.draw(conditions_over(passages))
    expected = matching_ids(passages, condition)
    retriever = search.retriever(LOCAL_USER, mode=mode, k=MAX_K, condition=condition)
    assert run(retriever, "annual leave 휴가는", wait=wait) == expected


@pytest.mark.parametrize("mode", list(SearchMode))
def test_a_limited_search_returns_only_passages_that_satisfy_the_condition(search, passages, mode):
    condition = {"format": "pdf", "collection": "HR", "page": {"$gte": 2}}
    results = search.search(LOCAL_USER, "annual leave", mode=mode, k=2, condition=condition)
    assert len(results) == 2
    assert {passage.id for passage in results} <= matching_ids(passages, condition)


def test_each_passage_has_its_collection_labels_and_date(search):
    condition = {"key": "a.md", "collection": "HR", "labels": {"$contains": "law"}}
    [passage] = search.search(LOCAL_USER, "annual leave", k=1, condition=condition)
    assert passage.metadata["collection"] == "HR"
    assert passage.metadata["labels"] == ["law", "old"]
    assert passage.metadata["modified_at"] == "2024-02-29T12:00:00Z"


def test_a_scope_finds_the_same_passages_as_its_condition(search, passages):
    scope = Scope(sources=["wiki"], labels=["old", "휴가"], since="2024-02-29", until="2026-11-20")
    condition = search.condition(LOCAL_USER, scope)
    results = search.search(LOCAL_USER, "leave", k=MAX_K, condition=condition, mode="bm25")
    assert {passage.metadata["key"] for passage in results} == {"a.md", "휴가.md"}
    assert {passage.id for passage in results} == matching_ids(passages, condition)


@pytest.mark.parametrize("mode", list(SearchMode))
def test_an_unknown_field_is_rejected_in_every_mode(search, mode):
    with pytest.raises(InputError, match="'lables'.*mean 'labels'"):
        search.search(LOCAL_USER, "leave", mode=mode, condition={"lables": ["x"]})
