import math
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from domain.errors import BusyError, StorageError
from domain.language.tokens import keyword_tokens
from storage import safe_writes
from storage.allowed_ids import AllowedIds
from storage.keywords.keyword_index import MAX_QUERY_TOKENS, KeywordIndex
from storage.safe_writes import writer_lock

ROOT = Path(__file__).parents[3]


@pytest.fixture
def index(tmp_path):
    return KeywordIndex(tmp_path / "keywords")


def reopen(tmp_path):
    return KeywordIndex(tmp_path / "keywords")


def result_ids(index, query, k=10, allowed=None):
    return [id_ for id_, _ in index.search(query, k, allowed)]


# --- words --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Employees get fifteen days of paid leave", "employee"),
        ("서버를 배포하려면 승인이 필요합니다", "서버 배포"),
        ("有給休暇の申請は上長に提出する", "休暇申請"),
        ("ＶＰＮ　接続", "vpn"),
        ("ｶﾀｶﾅの手順", "カタカナ"),
        ("\u1112\u1161\u11ab\u1100\u1173\u11af 문서", "한글"),
    ],
)
def test_questions_find_passages_with_the_same_words(index, text, query):
    index.add([("other", "nothing of the kind"), ("it", text), ("third", "완전히 다른 이야기")])
    assert result_ids(index, query) == ["it"]


@pytest.mark.parametrize("query", ["zebra", "", "   ", "?!", "얼룩말", "\ud800", "a" * 70_000])
def test_questions_without_known_words_have_no_results(index, query):
    index.add([("a", "the cat sat"), ("b", "고양이")])
    assert index.search(query, 10) == []


def test_query_syntax_is_searched_as_words(index):
    index.add([("a", "cat dog"), ("b", "bird")])
    assert result_ids(index, '+cat -"dog" id:b tokens:* AND (') == ["a"]


# --- scores -------------------------------------------------------------------------------------


def plain_bm25(texts, query, k1=1.2, b=0.75):
    """Scores by the BM25 formula with exact passage lengths."""
    bags = {id_: Counter(keyword_tokens(text)) for id_, text in texts.items()}
    average = sum(bag.total() for bag in bags.values()) / len(bags)
    scores = Counter()
    for token, times in Counter(keyword_tokens(query)).items():
        document_count = sum(token in bag for bag in bags.values())
        idf = math.log(1 + (len(bags) - document_count + 0.5) / (document_count + 0.5))
        for id_, bag in bags.items():
            if bag[token]:
                part = bag[token] + k1 * (1 - b + b * bag.total() / average)
                scores[id_] += times * idf * bag[token] * (k1 + 1) / part
    return scores


def random_texts(rng, count, longest):
    words = [f"word{n}" for n in range(80)] + ["배포", "서버를", "休暇", "申請"]
    weights = [1 / (n + 1) for n in range(len(words))]
    size = lambda: rng.randint(1, longest)  # noqa: E731
    return {str(n): " ".join(rng.choices(words, weights, k=size())) for n in range(count)}


@pytest.mark.parametrize("seed", range(5))
def test_scores_of_short_passages_equal_the_bm25_formula(index, seed):
    rng = random.Random(seed)
    texts = random_texts(rng, 60, longest=15)  # lengths of up to 40 tokens are stored exactly
    assert max(len(keyword_tokens(text)) for text in texts.values()) <= 40
    index.add(list(texts.items()))
    for _ in range(10):
        query = " ".join(random_texts(rng, 1, longest=6).values())
        expected = plain_bm25(texts, query)
        results = index.search(query, 100)
        assert dict(results) == pytest.approx(expected, rel=1e-4)
        assert [score for _, score in results] == sorted((s for _, s in results), reverse=True)
        top = index.search(query, 5)
        assert [s for _, s in top] == pytest.approx(
            [s for _, s in expected.most_common(5)], rel=1e-4
        )


def test_scores_of_long_passages_differ_only_by_rounded_lengths(index):
    rng = random.Random(1)
    texts = random_texts(rng, 200, longest=300)
    index.add(list(texts.items()))
    for _ in range(10):
        query = " ".join(random_texts(rng, 1, longest=6).values())
        expected = plain_bm25(texts, query)
        assert dict(index.search(query, 200)) == pytest.approx(expected, rel=0.06)


def test_very_long_questions_are_searched_by_their_rarest_words(index):
    common = " ".join(f"common{n}" for n in range(MAX_QUERY_TOKENS + 200))
    index.add([("1", common), ("2", common), ("rare", "needle")])
    question = (common + " ") * 9 + "needle"
    assert len(question) > 100_000
    started = time.monotonic()
    assert "rare" in result_ids(index, question)
    assert time.monotonic() - started < 5


def test_idf_is_higher_for_rarer_tokens_and_highest_for_unknown_tokens(index):
    assert index.idf(["cat"]) == {"cat": math.log(2)}
    index.add([("1", "cat dog"), ("2", "cat"), ("3", "cat bird")])
    idf = index.idf(["cat", "dog", "zebra", "cat"])
    assert idf == pytest.approx(
        {
            "cat": math.log(1 + 0.5 / 3.5),
            "dog": math.log(1 + 2.5 / 1.5),
            "zebra": math.log(1 + 3.5 / 0.5),
        }
    )
    index.delete(["2", "3"])
    assert all(value > 0 for value in index.idf(["cat", "dog"]).values())


def test_the_vocabulary_counts_the_passages_of_each_token(index, tmp_path):
    assert index.counts(["mileag"]) == {"mileag": 0}
    assert index.tokens_with_prefix("mi") == {}
    index.add([("1", "mileage and mile"), ("2", "mileage"), ("3", "휴가 규정")])
    assert index.counts(["mileag", "zebra", "휴가"]) == {"mileag": 2, "zebra": 0, "휴가": 1}
    assert list(index.tokens_with_prefix("mi").items()) == [("mileag", 2), ("mile", 1)]
    reopen(tmp_path).add([("4", "mister")])
    assert "mister" in index.tokens_with_prefix("mi")


def test_tokens_are_not_stemmed_again(index):
    index.add([("1", "expenses"), ("2", "cats")])
    assert keyword_tokens("expens") != ["expens"]
    assert [id_ for id_, _ in index.search_tokens(["expens"], 5)] == ["1"]


def test_k_must_be_positive_and_may_exceed_the_number_of_passages(index):
    index.add([("1", "cat"), ("2", "cat")])
    assert len(index.search("cat", 500)) == 2
    with pytest.raises(ValueError, match="k must be"):
        index.search("cat", 0)


@pytest.mark.parametrize("share", [0, 1, 3, 40, 500])
def test_filtered_searches_return_the_best_allowed_passages_of_any_rank(index, share):
    index.add([(str(n), "cat " * (1 + n % 7) + "dog " * (n % 11)) for n in range(500)])
    allowed = set(random.Random(share).sample([str(n) for n in range(500)], share))
    everything = index.search("cat dog", 1000)
    assert len(everything) == 500
    expected = [hit for hit in everything if hit[0] in allowed]
    for k in (1, 10, 600):
        assert index.search("cat dog", k, allowed.__contains__) == expected[:k]


@pytest.mark.parametrize("share", [0, 1, 3, 40, 500])
def test_few_allowed_passages_are_found_with_the_same_scores_by_their_ids(index, share):
    entries = [(str(n), "cat " * (1 + n % 7) + "dog " * (n % 11)) for n in range(500)]
    for start in range(0, 500, 100):  # several segments
        index.add(entries[start : start + 100])
    ids = [id_ for id_, _ in entries]
    passing = np.isin(np.arange(500), random.Random(share).sample(range(500), share))
    allowed = AllowedIds(ids, {id_: row for row, id_ in enumerate(ids)}, passing)
    for k in (1, 10, 600):
        by_ids = index.search("cat dog", k, allowed)
        assert by_ids == index.search("cat dog", k, set(allowed.ids()).__contains__)
        assert len(by_ids) == min(k, share)


def test_an_allowed_id_without_an_entry_is_not_found(index):
    index.add([("a", "cat"), *((str(n), "cat") for n in range(100))])
    allowed = AllowedIds(["a", "b"], {"a": 0, "b": 1}, np.array([True, True]))
    assert result_ids(index, "cat", 10, allowed) == ["a"]


# --- storing ------------------------------------------------------------------------------------


def test_adding_an_id_again_replaces_its_text(index, tmp_path):
    index.add([("a", "cat"), ("b", "cat"), ("a", "dog")])
    index.add([("b", "bird")])
    for current in (index, reopen(tmp_path)):
        assert current.ids() == ["a", "b"]
        assert len(current) == 2
        results = [result_ids(current, word) for word in ("cat", "dog", "bird")]
        assert results == [[], ["a"], ["b"]]


def test_deleted_passages_are_not_returned(index, tmp_path):
    index.add([(str(n), "cat") for n in range(10)])
    index.delete([str(n) for n in range(9)] + ["nobody"])
    for current in (index, reopen(tmp_path)):
        assert current.ids() == result_ids(current, "cat") == ["9"]
        assert len(current) == 1
    index.delete(["9"])
    assert index.ids() == index.search("cat", 3) == []


def test_texts_without_words_are_stored_but_never_found(index):
    index.add([("empty", ""), ("signs", "?!"), ("strange", "cat \ud800")])
    assert index.ids() == ["empty", "signs", "strange"]
    assert result_ids(index, "cat") == ["strange"]


@pytest.mark.parametrize("id_", ["a b", "Ä'\"\\", "0" * 32, "한글"])
def test_ids_are_matched_exactly(index, id_):
    index.add([(id_, "cat"), ("x", "cat")])
    index.delete(["a", "b", "0"])
    assert set(result_ids(index, "cat")) == {id_, "x"}
    index.delete([id_])
    assert result_ids(index, "cat") == ["x"]


def test_many_small_commits_do_not_create_many_segments(index, tmp_path):
    for n in range(60):
        index.add([(str(n), "cat")])
    segments = {file.stem.split(".")[0] for file in (tmp_path / "keywords/index").glob("*.store")}
    assert len(segments) <= 16
    assert len(index) == 60


# --- opening, sharing, failing ------------------------------------------------------------------


def test_a_missing_folder_is_read_as_empty_and_not_created(index, tmp_path):
    assert index.search("cat", 3) == index.ids() == []
    assert len(index) == 0
    index.delete(["a"])
    index.add([])
    assert not (tmp_path / "keywords").exists()


ADD = """
import sys
from pathlib import Path
from storage.keywords.keyword_index import KeywordIndex
index = KeywordIndex(Path(sys.argv[1]))
for batch in range(int(sys.argv[2]), int(sys.argv[3])):
    index.add([(f"{batch}-{n}", f"batch{batch} cat") for n in range(50)])
    print(batch, flush=True)
"""


def start_writer(tmp_path, start, stop):
    command = [sys.executable, "-c", ADD, str(tmp_path / "keywords"), str(start), str(stop)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def test_commits_of_another_process_are_visible_in_the_next_search(index, tmp_path):
    index.add([("mine", "cat")])
    assert result_ids(index, "cat") == ["mine"]
    with start_writer(tmp_path, 0, 2) as other:
        assert other.wait(60) == 0
    assert len(result_ids(index, "cat", 500)) == len(index) == 101


@pytest.mark.slow
def test_a_killed_writer_neither_loses_nor_duplicates_committed_passages(tmp_path):
    committed, first, rng = set(), 0, random.Random(5)
    for _ in range(8):
        writer = start_writer(tmp_path, first, 1000)
        lines = [writer.stdout.readline() for _ in range(rng.randint(1, 4))]
        time.sleep(rng.uniform(0, 0.1))
        writer.kill()
        committed |= set(map(int, [*lines, *writer.communicate(timeout=60)[0].split()]))
        index = reopen(tmp_path)
        ids = index.ids()
        assert len(ids) == len(set(ids)) == len(index) == len(result_ids(index, "cat", 100_000))
        batches = {int(id_.partition("-")[0]) for id_ in ids}
        assert batches >= committed
        assert len(ids) == 50 * len(batches)
        first = max(batches) + 1
    reopen(tmp_path).add([("new", "cat")])
    assert "new" in reopen(tmp_path).ids()


def test_a_deletion_interrupted_before_its_commit_can_be_repeated(index, tmp_path):
    index.add([("a", "cat"), ("b", "cat")])
    meta = next((tmp_path / "keywords").rglob("meta.json"))
    committed = meta.read_bytes()
    index.delete(["a"])
    meta.write_bytes(committed)

    assert reopen(tmp_path).ids() == ["a", "b"]
    reopen(tmp_path).delete(["a"])
    assert reopen(tmp_path).ids() == ["b"]


def test_concurrent_searches_succeed_during_writes(index):
    index.add([(str(n), f"cat word{n}") for n in range(50)])
    stop, failures = threading.Event(), []

    def read():
        while not stop.is_set():
            try:
                hits = index.search("cat", 1000)
                if len(hits) < 50 or len({id_ for id_, _ in hits}) != len(hits):
                    failures.append(hits)
            except Exception as error:  # noqa: BLE001 - a thread's failure must reach the test
                failures.append(error)

    readers = [threading.Thread(target=read) for _ in range(4)]
    [reader.start() for reader in readers]
    for n in range(10):
        index.add([(str(n), f"cat again{n}"), (f"new{n}", "cat")])
    stop.set()
    [reader.join(30) for reader in readers]
    assert failures == []


def test_waiting_for_another_writer_times_out(tmp_path):
    index = KeywordIndex(tmp_path, timeout_s=0.2)
    index.add([("a", "cat")])
    with writer_lock(tmp_path):
        with pytest.raises(BusyError):
            index.add([("b", "cat")])
        assert result_ids(index, "cat") == ["a"]


@pytest.mark.parametrize("damage", ["meta", "files"])
def test_a_damaged_index_is_rejected_with_advice(index, tmp_path, damage):
    index.add([("a", "cat")])
    files = tmp_path / "keywords" / "index"
    for file in files.glob("meta.json" if damage == "meta" else "*.*"):
        if damage == "meta" or file.name != "meta.json":
            file.write_bytes(file.read_bytes()[:10])
    for action in (lambda: reopen(tmp_path).search("cat", 3), lambda: reopen(tmp_path).ids()):
        with pytest.raises(StorageError, match="python cli.py reindex"):
            action()
    with pytest.raises(StorageError, match="reindex"):
        reopen(tmp_path).add([("b", "cat")])


def test_a_full_disk_is_reported_before_writing(index, monkeypatch):
    index.add([("a", "cat")])
    monkeypatch.setattr(safe_writes, "SPARE_BYTES", 2**62)
    with pytest.raises(StorageError, match="MiB free.*Nothing was written"):
        index.add([("b", "cat")])
    assert index.ids() == ["a"]


def test_tantivy_is_imported_only_if_there_is_something_to_read(tmp_path):
    code = """
import sys
from pathlib import Path
from storage.keywords.keyword_index import KeywordIndex
assert KeywordIndex(Path(sys.argv[1])).search("x", 1) == []
assert "tantivy" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, check=True, timeout=60)
