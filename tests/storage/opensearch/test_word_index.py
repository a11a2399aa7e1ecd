import numpy as np
import pytest

from domain.language.tokens import keyword_tokens
from storage.keywords.keyword_index import KeywordIndex
from storage.opensearch.passage_index import PassageIndex
from storage.opensearch.vector_rows import VectorRows
from storage.opensearch.word_index import WordIndex
from storage.vectors.new_rows import new_rows

pytestmark = pytest.mark.opensearch

TEXTS = {
    "leave": "Annual leave is 25 days of leave a year.",
    "sick": "Sick leave needs a note after three days.",
    "휴가": "신규 입사자는 첫해에 연차 휴가 15일을 받습니다.",
    "休暇": "新入社員には年次有給休暇が12日付与されます。",
    "vpn": "Install WireGuard; choose the foo_bar gateway (e-mail IT).",
}


@pytest.fixture
def words(os_client, index_name):
    index = PassageIndex(os_client, index_name)
    vectors = np.ones((len(TEXTS), 2))
    metadata = [{"page": number} for number in range(len(TEXTS))]
    VectorRows(index).upsert(new_rows(list(TEXTS), list(TEXTS.values()), vectors, metadata))
    return WordIndex(index)


@pytest.fixture
def embedded(tmp_path):
    index = KeywordIndex(tmp_path / "keywords")
    index.add(list(TEXTS.items()))
    return index


@pytest.mark.parametrize(
    "question",
    ["annual leave", "leave leave days", "연차 휴가", "有給休暇", "foo_bar", "e-mail", "!!!", ""],
)
def test_hits_and_their_order_are_those_of_the_embedded_index(words, embedded, question):
    ours, theirs = words.search(question, 5), embedded.search(question, 5)
    assert [id_ for id_, _ in ours] == [id_ for id_, _ in theirs]
    assert [s for _, s in ours] == pytest.approx([s for _, s in theirs], rel=1e-3)


def test_counts_and_rarity_are_those_of_the_embedded_index(words, embedded):
    tokens = set(keyword_tokens("annual leave 휴가 unknown"))
    assert words.counts(tokens) == embedded.counts(tokens)
    assert words.idf(tokens) == pytest.approx(embedded.idf(tokens))


def test_more_tokens_than_fit_in_a_request_are_counted(words):
    unknown = {f"word{number}": 0 for number in range(1_200)}
    assert words.counts({"leav", "day", *unknown}) == {"leav": 2, "day": 2, **unknown}
    assert words.counts([]) == {}


def test_deleted_passages_are_not_counted(words):
    VectorRows(words.index).delete(["sick"])
    assert words.counts({"leav", "note", "annual"}) == {"leav": 1, "note": 0, "annual": 1}
    assert words.tokens_with_prefix("le") == {"leav": 1}
    assert words.tokens_with_prefix("no") == {}


@pytest.mark.parametrize("prefix", ["le", "foo_", "휴", "", "a.b*", "\\"])
def test_tokens_with_a_prefix_are_those_of_the_embedded_index(words, embedded, prefix):
    assert words.tokens_with_prefix(prefix) == embedded.tokens_with_prefix(prefix)


def test_a_filter_does_not_change_scores(words):
    everything = dict(words.search("leave", 5))
    assert words.search("leave", 5, {"page": 1}) == [("sick", everything["sick"])]


def test_of_a_very_long_question_the_rarest_tokens_are_used(words):
    question = " ".join(f"word{number}" for number in range(1_500)) + " leave"
    assert {id_ for id_, _ in words.search(question, 5)} == {"leave", "sick"}


def test_before_the_first_passage_nothing_is_found(os_client, index_name):
    words = WordIndex(PassageIndex(os_client, index_name))
    assert words.search("leave", 5) == []
    assert words.counts({"leave"}) == {"leave": 0}
    assert (words.tokens_with_prefix("l"), words.ids(), len(words)) == ({}, [], 0)
