"""No search of any mode ever finds a passage that violates its condition."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain import FILTER_FIELDS, LOCAL_USER, Scope, SearchMode
from domain.language.script import script_of
from errors import InputError
from services.search import search_service as whole
from services.search.ranking import RankingOptions
from services.search.search_service import SearchService
from services.texts import MAX_K
from storage.ledger.passage_finder import LedgerFilter
from tests.fakes.library import DictLoader, Library
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
class Described(DictLoader):
    """Documents whose metadata the test sets."""

    described: dict = field(default_factory=dict)

    def read(self, ref):
        document = super().read(ref)
        document.metadata |= self.described[ref.key]
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
        library.load(Described(texts, described=DOCUMENTS), source=source)
    return library


@pytest.fixture(scope="module")
def search(library):
    all_of_it = whole.Library(
        library.documents,
        library.sources,
        library.indexes,
        library.stores,
        library.maintenance,
        Path("nowhere"),
        LedgerFilter(library.database),
    )
    return SearchService(all_of_it, library.documents, options=RankingOptions(score_threshold=0.0))


@pytest.fixture(scope="module")
def passages(library):
    """By id, what the ledger says of every passage: a filter must answer by this."""
    hydrated = library.documents.hydrate(library.active.passages.ids())
    return {passage.id: known(passage) for passage in hydrated}


def known(passage):
    told = passage.metadata | {"script": script_of(passage.page_content)}
    return {name: told[name] for name in FILTER_FIELDS if told[name] is not None}


def conditions_over(passages):
    """Conditions on values that occur, and on some that don't."""
    names = st.lists(st.sampled_from(sorted(FILTER_FIELDS)), max_size=3, unique=True)
    return names.flatmap(
        lambda some: st.fixed_dictionaries({name: condition_on(passages, name) for name in some})
    )


def condition_on(passages, name):
    occurring = [told[name] for told in passages.values() if name in told]
    if name == "labels":
        label = st.sampled_from(["law", "old", "휴가", "none of them"])
        return st.one_of(
            st.sampled_from(occurring),
            st.fixed_dictionaries({"$contains": label}),
            st.fixed_dictionaries({"$contains_any": st.lists(label, max_size=3)}),
        )
    value = st.sampled_from([*sorted(set(occurring)), 7 if name == "page" else "nothing"])
    order = st.sampled_from(["$gt", "$gte", "$lt", "$lte"])
    return st.one_of(
        value,
        st.fixed_dictionaries({"$in": st.lists(value, max_size=3)}),
        st.dictionaries(order, value, min_size=1, max_size=2),
    )


def satisfying(passages, condition):
    return {
        id_
        for id_, told in passages.items()
        if all(name in told and holds(told[name], one) for name, one in condition.items())
    }


def run(retriever, question, *, wait):
    found = asyncio.run(retriever.ainvoke(question)) if wait else retriever.invoke(question)
    return {passage.id for passage in found}


@pytest.mark.parametrize("mode", list(SearchMode))
@settings(max_examples=40)
@given(data=st.data(), wait=st.booleans())
def test_what_is_found_satisfies_the_condition_and_nothing_that_does_is_missing(
    search, passages, mode, data, wait
):
    condition = data.draw(conditions_over(passages))
    expected = satisfying(passages, condition)
    retriever = search.retriever(LOCAL_USER, mode=mode, k=MAX_K, condition=condition)
    assert run(retriever, "annual leave 휴가는", wait=wait) == expected


@pytest.mark.parametrize("mode", list(SearchMode))
def test_few_are_asked_for_and_those_come_from_the_few_that_satisfy(search, passages, mode):
    condition = {"format": "pdf", "collection": "HR", "page": {"$gte": 2}}
    found = search.search(LOCAL_USER, "annual leave", mode=mode, k=2, condition=condition)
    assert len(found) == 2
    assert {passage.id for passage in found} <= satisfying(passages, condition)


def test_each_passage_tells_what_it_is_filed_under(search):
    condition = {"key": "a.md", "collection": "HR", "labels": {"$contains": "law"}}
    [found] = search.search(LOCAL_USER, "annual leave", k=1, condition=condition)
    assert found.metadata["collection"] == "HR"
    assert found.metadata["labels"] == ["law", "old"]
    assert found.metadata["modified_at"] == "2024-02-29T12:00:00Z"


def test_a_scope_as_people_say_it_finds_the_same(search, passages):
    scope = Scope(sources=["wiki"], labels=["old", "휴가"], since="2024-02-29", until="2026-11-20")
    condition = search.condition(LOCAL_USER, scope)
    found = search.search(LOCAL_USER, "leave", k=MAX_K, condition=condition, mode="bm25")
    assert {passage.metadata["key"] for passage in found} == {"a.md", "휴가.md"}
    assert {passage.id for passage in found} == satisfying(passages, condition)


@pytest.mark.parametrize("mode", list(SearchMode))
def test_an_unknown_field_is_refused_in_every_mode(search, mode):
    with pytest.raises(InputError, match="'lables'.*mean 'labels'"):
        search.search(LOCAL_USER, "leave", mode=mode, condition={"lables": ["x"]})
