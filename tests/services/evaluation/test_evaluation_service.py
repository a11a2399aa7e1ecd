import json

import pytest

from domain import SearchMode
from domain.errors import InputError
from services.long_work import ignore
from tests.fakes.reranker import reranking

CORPUS = {
    "leave": "New employees get 25 days of annual leave a year. Ask your lead for it.",
    "vpn": "Install WireGuard and choose the Bristol gateway.",
    "휴가": "신규 입사자는 첫해에 연차 15일을 받습니다.",
}
QUESTIONS = [
    {
        "_id": "q1",
        "text": "How many days do they get?",
        "history": [{"role": "user", "text": "Is there annual leave for new employees?"}],
        "rewrite": "How many days of annual leave do new employees get?",
        "answers": ["25 days"],
    },
    {"_id": "q2", "text": "신규 입사자의 연차는?", "answers": ["15일"]},
]


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "labeled"
    folder.mkdir()
    corpus = [{"_id": item, "text": text} for item, text in CORPUS.items()]
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, corpus)))
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, QUESTIONS)))
    (folder / "qrels.tsv").write_text("q\tc\ts\nq1\tleave\t1\nq2\t휴가\t1\n")
    return folder


@pytest.fixture
def evaluation(build_services):
    return build_services().evaluation


def test_a_perfect_ranking_has_perfect_figures(evaluation, folder):
    [row] = evaluation.measure_search(folder, [SearchMode.CONVEX], "rewrite", on_progress=ignore)
    assert (row["ndcg_at_10"], row["recall_at_5"], row["queries"]) == (1, 1, 2)
    assert row["ms_per_query"] > 0


@pytest.mark.parametrize(
    ("model", "expected"), [("multilingual-e5-small", 1), ("all-MiniLM-L6-v2", 0.5)]
)
def test_a_korean_question_is_found_only_by_a_model_that_reads_korean(
    build_services, folder, model, expected
):
    evaluation = build_services(embedding_model=model).evaluation
    [row] = evaluation.measure_search(folder, [SearchMode.SIMILARITY], on_progress=ignore)
    assert row["recall_at_10"] == expected


def test_reranking_sends_every_question_to_the_reranker(build_services, folder):
    with reranking() as server:
        settings = {"rerank_provider": "http", "rerank_url": server.url, "rerank_model": "rank-3"}
        evaluation = build_services(**settings).evaluation
        [row] = evaluation.measure_search(
            folder, [SearchMode.BM25], rerank=True, on_progress=ignore
        )
        requests = server.bodies
    assert {body["query"] for body in requests} == {question["text"] for question in QUESTIONS}
    assert row["queries"] == 2


def test_reranking_without_a_reranker_is_rejected_before_indexing(evaluation, folder):
    with pytest.raises(InputError, match="FOOTNOTE_RERANK_PROVIDER"):
        evaluation.measure_search(folder, None, rerank=True, on_progress=ignore)


def test_condensing_a_question_with_its_history_improves_the_ranking(evaluation, folder):
    def ndcg(queries):
        [row] = evaluation.measure_search(folder, [SearchMode.BM25], queries, on_progress=ignore)
        return row["ndcg_at_10"]

    corpus = folder / "corpus.jsonl"
    rivals = [{"_id": f"r{n}", "text": "How many days do they get? Many."} for n in range(12)]
    corpus.write_text(corpus.read_text() + "\n" + "\n".join(map(json.dumps, rivals)))
    assert ndcg("last") < ndcg("condensed")
    assert ndcg("last") < ndcg("history")


def test_an_answer_is_right_if_its_first_sentence_contains_the_reference(evaluation, folder):
    figures = evaluation.measure_answers(folder, on_progress=ignore)
    assert figures == {"questions": 2, "first_sentence_right": 1, "refused": 0}


def test_a_set_with_articles_is_also_measured_without_the_answering_article(evaluation, folder):
    corpus = folder / "corpus.jsonl"
    rows = [json.loads(line) for line in corpus.read_text().splitlines()]
    corpus.write_text("\n".join(json.dumps({**row, "title": row["_id"]}) for row in rows))
    figures = evaluation.measure_answers(folder, on_progress=ignore)
    assert figures["first_sentence_right"] == 1
    assert figures["answered_without_article"] < 1
    assert figures["answered_without_paragraph"] < 1


def test_a_sample_is_deterministic(evaluation, folder):
    rows = [evaluation.measure_answers(folder, 1, on_progress=ignore) for _ in range(2)]
    assert rows[0] == rows[1]
    assert rows[0]["questions"] == 1


def test_unknown_queries_and_a_set_without_answers_are_rejected(evaluation, folder):
    with pytest.raises(InputError, match="last, history, condensed, or rewrite"):
        evaluation.measure_search(folder, None, "first", on_progress=ignore)
    bare = [{"_id": "q1", "text": "How many?"}]
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, bare)))
    with pytest.raises(InputError, match="no reference answers"):
        evaluation.measure_answers(folder, on_progress=ignore)


def test_a_set_without_judged_passages_is_rejected(evaluation, folder):
    (folder / "qrels.tsv").write_text("query\tpassage\tgrade\n")
    with pytest.raises(InputError, match="no question with a judged passage"):
        evaluation.measure_search(folder, None, on_progress=ignore)
