from concurrent.futures import ThreadPoolExecutor

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document

from services.agent.tool_results import SourceNumbers

batches = st.lists(st.lists(st.sampled_from("abcdefgh")))


def passages(names):
    return [Document(id=name, page_content=name) for name in names]


@given(batches)
def test_numbers_start_at_1_without_gaps_and_are_stable(batches_of_names):
    numbers = SourceNumbers()
    assigned = {}
    for names in batches_of_names:
        for name, n in zip(names, numbers.number(passages(names)), strict=True):
            assert assigned.setdefault(name, n) == n
    assert sorted(assigned.values()) == list(range(1, len(assigned) + 1))


@given(batches)
def test_a_number_is_the_position_of_its_document(batches_of_names):
    numbers = SourceNumbers()
    for names in batches_of_names:
        for name, n in zip(names, numbers.number(passages(names)), strict=True):
            assert numbers.documents[n - 1].id == name


def test_passages_without_an_id_are_distinguished_by_document_and_start():
    def passage(document_id, start):
        return Document("same words", metadata={"document_id": document_id, "start": start})

    numbers = SourceNumbers()
    assert numbers.number([passage("a", 0), passage("a", 9), passage("b", 0)]) == [1, 2, 3]
    assert numbers.number([passage("a", 9)]) == [2]


def test_concurrent_tools_share_the_numbers():
    numbers = SourceNumbers()

    def number(worker):
        return [numbers.number(passages([f"{n}", f"{worker} {n}"])) for n in range(50)]

    with ThreadPoolExecutor(8) as pool:
        numbers_in_use = [n for calls in pool.map(number, range(8)) for pair in calls for n in pair]
    assert set(numbers_in_use) == set(range(1, 50 + 8 * 50 + 1))
    assert len(numbers.documents) == 50 + 8 * 50
