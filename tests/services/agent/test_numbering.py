from concurrent.futures import ThreadPoolExecutor

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document

from services.agent.tool_results import SourceNumbers

ids = st.lists(st.lists(st.sampled_from("abcdefgh")))


def passages(names):
    return [Document(id=name, page_content=name) for name in names]


@given(ids)
def test_numbers_count_from_one_without_gaps_and_a_passage_keeps_its_own(calls):
    numbers = SourceNumbers()
    given_out = {}
    for names in calls:
        for name, n in zip(names, numbers.number(passages(names)), strict=True):
            assert given_out.setdefault(name, n) == n
    assert sorted(given_out.values()) == list(range(1, len(given_out) + 1))


@given(ids)
def test_a_number_finds_its_document(calls):
    numbers = SourceNumbers()
    for names in calls:
        for name, n in zip(names, numbers.number(passages(names)), strict=True):
            assert numbers.documents[n - 1].id == name


def test_passages_without_an_id_are_told_apart_by_their_place():
    def passage(document_id, start):
        return Document("same words", metadata={"document_id": document_id, "start": start})

    numbers = SourceNumbers()
    assert numbers.number([passage("a", 0), passage("a", 9), passage("b", 0)]) == [1, 2, 3]
    assert numbers.number([passage("a", 9)]) == [2]


def test_tools_that_work_at_the_same_time_share_the_numbers():
    numbers = SourceNumbers()

    def number(worker):
        return [numbers.number(passages([f"{n}", f"{worker} {n}"])) for n in range(50)]

    with ThreadPoolExecutor(8) as pool:
        every = [n for calls in pool.map(number, range(8)) for pair in calls for n in pair]
    assert set(every) == set(range(1, 50 + 8 * 50 + 1))
    assert len(numbers.documents) == 50 + 8 * 50
