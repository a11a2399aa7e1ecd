import math
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from domain.language.tokens import keyword_tokens
from errors import BusyError, StorageError
from storage import disk
from storage.keywords.keyword_index import MAX_QUERY_TOKENS, KeywordIndex
from storage.lock import writer_lock

ROOT = Path(__file__).parents[3]


@pytest.fixture
def index(tmp_path):
    return KeywordIndex(tmp_path / "keywords")


def again(tmp_path):
    return KeywordIndex(tmp_path / "keywords")


def found(index, query, k=10, allowed=None):
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
def test_a_question_finds_the_passage_that_shares_its_words(index, text, query):
    index.add([("other", "nothing of the kind"), ("it", text), ("third", "완전히 다른 이야기")])
    assert found(index, query) == ["it"]


@pytest.mark.parametrize("query", ["zebra", "", "   ", "?!", "얼룩말", "\ud800", "a" * 70_000])
def test_a_question_without_a_known_word_finds_nothing(index, query):
    index.add([("a", "the cat sat"), ("b", "고양이")])
    assert index.search(query, 10) == []


def test_query_syntax_is_only_words(index):
    index.add([("a", "cat dog"), ("b", "bird")])
    assert found(index, '+cat -"dog" id:b tokens:* AND (') == ["a"]


# --- scores -------------------------------------------------------------------------------------


def plain_bm25(texts, query, k1=1.2, b=0.75):
    """BM25 by its formula, one passage at a time, with exact lengths."""
    bags = {id_: Counter(keyword_tokens(text)) for id_, text in texts.items()}
    average = sum(bag.total() for bag in bags.values()) / len(bags)
    scores = Counter()
    for token, times in Counter(keyword_tokens(query)).items():
        held = sum(token in bag for bag in bags.values())
        idf = math.log(1 + (len(bags) - held + 0.5) / (held + 0.5))
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
def test_scores_of_short_passages_are_bm25_by_its_formula(index, seed):
    rng = random.Random(seed)
    texts = random_texts(rng, 60, longest=15)  # up to 40 tokens the length is kept exactly
    assert max(len(keyword_tokens(text)) for text in texts.values()) <= 40
    index.add(list(texts.items()))
    for _ in range(10):
        query = " ".join(random_texts(rng, 1, longest=6).values())
        expected = plain_bm25(texts, query)
        got = index.search(query, 100)
        assert dict(got) == pytest.approx(expected, rel=1e-4)
        assert [score for _, score in got] == sorted((s for _, s in got), reverse=True)
        top = index.search(query, 5)
        assert [s for _, s in top] == pytest.approx(
            [s for _, s in expected.most_common(5)], rel=1e-4
        )


def test_scores_of_long_passages_differ_by_the_rounding_of_lengths_only(index):
    rng = random.Random(1)
    texts = random_texts(rng, 200, longest=300)
    index.add(list(texts.items()))
    for _ in range(10):
        query = " ".join(random_texts(rng, 1, longest=6).values())
        expected = plain_bm25(texts, query)
        assert dict(index.search(query, 200)) == pytest.approx(expected, rel=0.06)


def test_a_very_long_question_is_searched_by_its_rarest_words(index):
    common = " ".join(f"common{n}" for n in range(MAX_QUERY_TOKENS + 200))
    index.add([("1", common), ("2", common), ("rare", "needle")])
    question = (common + " ") * 9 + "needle"
    assert len(question) > 100_000
    started = time.monotonic()
    assert "rare" in found(index, question)
    assert time.monotonic() - started < 5


def test_idf_is_higher_for_rarer_tokens_and_highest_for_unknown_ones(index):
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


def test_the_vocabulary_tells_how_many_passages_hold_each_token(index, tmp_path):
    assert index.counts(["mileag"]) == {"mileag": 0}
    assert index.tokens_with_prefix("mi") == {}
    index.add([("1", "mileage and mile"), ("2", "mileage"), ("3", "휴가 규정")])
    assert index.counts(["mileag", "zebra", "휴가"]) == {"mileag": 2, "zebra": 0, "휴가": 1}
    assert list(index.tokens_with_prefix("mi").items()) == [("mileag", 2), ("mile", 1)]
    again(tmp_path).add([("4", "mister")])
    assert "mister" in index.tokens_with_prefix("mi")


def test_tokens_are_searched_without_stemming_them_again(index):
    index.add([("1", "expenses"), ("2", "cats")])
    assert keyword_tokens("expens") != ["expens"]
    assert [id_ for id_, _ in index.search_tokens(["expens"], 5)] == ["1"]


def test_k_must_be_positive_and_may_exceed_what_there_is(index):
    index.add([("1", "cat"), ("2", "cat")])
    assert len(index.search("cat", 500)) == 2
    with pytest.raises(ValueError, match="k must be"):
        index.search("cat", 0)


@pytest.mark.parametrize("share", [0, 1, 3, 40, 500])
def test_a_filter_gives_the_best_of_what_it_allows_however_deep_they_lie(index, share):
    index.add([(str(n), "cat " * (1 + n % 7) + "dog " * (n % 11)) for n in range(500)])
    allowed = set(random.Random(share).sample([str(n) for n in range(500)], share))
    everything = index.search("cat dog", 1000)
    assert len(everything) == 500
    expected = [hit for hit in everything if hit[0] in allowed]
    for k in (1, 10, 600):
        assert index.search("cat dog", k, allowed.__contains__) == expected[:k]


# --- what is kept -------------------------------------------------------------------------------


def test_adding_an_id_again_replaces_its_text(index, tmp_path):
    index.add([("a", "cat"), ("b", "cat"), ("a", "dog")])
    index.add([("b", "bird")])
    for current in (index, again(tmp_path)):
        assert current.ids() == ["a", "b"]
        assert len(current) == 2
        assert (found(current, "cat"), found(current, "dog"), found(current, "bird")) == (
            [], ["a"], ["b"],
        )  # fmt: skip


def test_deleting_leaves_no_trace_in_any_answer(index, tmp_path):
    index.add([(str(n), "cat") for n in range(10)])
    index.delete([str(n) for n in range(9)] + ["nobody"])
    for current in (index, again(tmp_path)):
        assert current.ids() == found(current, "cat") == ["9"]
        assert len(current) == 1
    index.delete(["9"])
    assert index.ids() == index.search("cat", 3) == []


def test_a_text_without_words_is_kept_and_never_found(index):
    index.add([("empty", ""), ("signs", "?!"), ("strange", "cat \ud800")])
    assert index.ids() == ["empty", "signs", "strange"]
    assert found(index, "cat") == ["strange"]


@pytest.mark.parametrize("id_", ["a b", "Ä'\"\\", "0" * 32, "한글"])
def test_ids_are_taken_as_they_are(index, id_):
    index.add([(id_, "cat"), ("x", "cat")])
    index.delete(["a", "b", "0"])
    assert set(found(index, "cat")) == {id_, "x"}
    index.delete([id_])
    assert found(index, "cat") == ["x"]


def test_segments_stay_few_under_many_small_commits(index, tmp_path):
    for n in range(60):
        index.add([(str(n), "cat")])
    segments = {file.stem.split(".")[0] for file in (tmp_path / "keywords/index").glob("*.store")}
    assert len(segments) <= 16
    assert len(index) == 60


# --- opening, sharing, failing ------------------------------------------------------------------


def test_a_folder_that_does_not_exist_reads_as_empty_and_is_not_created(index, tmp_path):
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


def adding(tmp_path, start, stop):
    command = [sys.executable, "-c", ADD, str(tmp_path / "keywords"), str(start), str(stop)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def test_what_another_process_commits_is_seen_at_the_next_search(index, tmp_path):
    index.add([("mine", "cat")])
    assert found(index, "cat") == ["mine"]
    with adding(tmp_path, 0, 2) as other:
        assert other.wait(60) == 0
    assert len(found(index, "cat", 500)) == len(index) == 101


@pytest.mark.slow
def test_a_killed_writer_loses_nothing_committed_and_leaves_nothing_twice(tmp_path):
    committed, first, rng = set(), 0, random.Random(5)
    for _ in range(8):
        writer = adding(tmp_path, first, 1000)
        seen = [writer.stdout.readline() for _ in range(rng.randint(1, 4))]
        time.sleep(rng.uniform(0, 0.1))
        writer.kill()
        committed |= set(map(int, [*seen, *writer.communicate(timeout=60)[0].split()]))
        index = again(tmp_path)
        ids = index.ids()
        assert len(ids) == len(set(ids)) == len(index) == len(found(index, "cat", 100_000))
        batches = {int(id_.partition("-")[0]) for id_ in ids}
        assert batches >= committed
        assert len(ids) == 50 * len(batches)
        first = max(batches) + 1
    again(tmp_path).add([("new", "cat")])
    assert "new" in again(tmp_path).ids()


def test_a_deletion_that_was_killed_just_before_its_commit_can_be_done_again(index, tmp_path):
    index.add([("a", "cat"), ("b", "cat")])
    meta = next((tmp_path / "keywords").rglob("meta.json"))
    committed = meta.read_bytes()
    index.delete(["a"])
    meta.write_bytes(committed)

    assert again(tmp_path).ids() == ["a", "b"]
    again(tmp_path).delete(["a"])
    assert again(tmp_path).ids() == ["b"]


def test_searching_threads_beside_a_writer_always_get_an_answer(index):
    index.add([(str(n), f"cat word{n}") for n in range(50)])
    stop, wrong = threading.Event(), []

    def read():
        while not stop.is_set():
            try:
                hits = index.search("cat", 1000)
                if len(hits) < 50 or len({id_ for id_, _ in hits}) != len(hits):
                    wrong.append(hits)
            except Exception as error:  # noqa: BLE001 - a thread's failure must reach the test
                wrong.append(error)

    readers = [threading.Thread(target=read) for _ in range(4)]
    [reader.start() for reader in readers]
    for n in range(10):
        index.add([(str(n), f"cat again{n}"), (f"new{n}", "cat")])
    stop.set()
    [reader.join(30) for reader in readers]
    assert wrong == []


def test_a_writer_gives_up_when_another_goes_on_too_long(tmp_path):
    index = KeywordIndex(tmp_path, timeout_s=0.2)
    index.add([("a", "cat")])
    with writer_lock(tmp_path):
        with pytest.raises(BusyError):
            index.add([("b", "cat")])
        assert found(index, "cat") == ["a"]


@pytest.mark.parametrize("damage", ["meta", "files"])
def test_a_damaged_index_is_refused_with_the_remedy(index, tmp_path, damage):
    index.add([("a", "cat")])
    files = tmp_path / "keywords" / "index"
    for file in files.glob("meta.json" if damage == "meta" else "*.*"):
        if damage == "meta" or file.name != "meta.json":
            file.write_bytes(file.read_bytes()[:10])
    for action in (lambda: again(tmp_path).search("cat", 3), lambda: again(tmp_path).ids()):
        with pytest.raises(StorageError, match="python cli.py reindex"):
            action()
    with pytest.raises(StorageError, match="reindex"):
        again(tmp_path).add([("b", "cat")])


def test_a_full_disk_is_said_before_anything_is_written(index, monkeypatch):
    index.add([("a", "cat")])
    monkeypatch.setattr(disk, "SPARE_BYTES", 2**62)
    with pytest.raises(StorageError, match="MiB free.*Nothing was written"):
        index.add([("b", "cat")])
    assert index.ids() == ["a"]


def test_tantivy_is_not_imported_before_there_is_something_to_read(tmp_path):
    code = """
import sys
from pathlib import Path
from storage.keywords.keyword_index import KeywordIndex
assert KeywordIndex(Path(sys.argv[1])).search("x", 1) == []
assert "tantivy" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, check=True, timeout=60)
