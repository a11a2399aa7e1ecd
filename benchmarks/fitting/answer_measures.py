"""Measures of `chains.extractive.answer_decision` on labeled questions, one JSON line each.

    python -m benchmarks.fitting.answer_measures OUT SET...

Each SET is a folder that `cli.py evaluate --answers` reads, or the folder of Footnote's own
questions. From the former, shuffled by a seed, 300 questions are for fitting and the next 300 for
measuring; each is asked with its answer in the set, without its article, and without its paragraph
(see `services.evaluation.answer_evaluation`). Own questions are those of the `tune` split, asked
of the library in FOOTNOTE_DATA_DIR, which contains the sample documents.
"""

import json
import random
import sys
from dataclasses import asdict
from pathlib import Path, PurePath

from bootstrap import build_services
from chains.extractive.answer_decision import measures_of
from domain import LOCAL_USER, SearchMode
from domain.language.script import is_foreign, script_family
from services.evaluation.answer_evaluation import AnswerEvaluation, Without
from services.evaluation.datasets import load_labeled_set
from services.evaluation.sample_evaluation import (
    WITHOUT_ANSWER,
    Kind,
    Quote,
    holds_questions,
    is_right,
    load_sample_questions,
)
from services.search.ranking import build_ranker

HALF = 300
OWN = "own"


def main() -> None:
    out, *sets = map(Path, sys.argv[1:])
    services = build_services()
    with out.open("a", encoding="utf-8") as file:
        for path in sets:
            rows = own_rows if holds_questions(path) else labeled_rows
            for row in rows(services, path):
                file.write(json.dumps(row, ensure_ascii=False) + "\n")


def labeled_rows(services, path):
    labeled, evaluation = load_labeled_set(path), services.evaluation
    questions = [one for one in labeled.questions if one.answers]
    random.Random(0).shuffle(questions)  # a seeded sample, not for secrets
    with evaluation._index(labeled, print_progress) as index:
        rank = build_ranker(SearchMode.CONVEX, index, evaluation.options)
        answerer = evaluation.make_answerer(index)
        answers = AnswerEvaluation(labeled, index.passages, rank, answerer, evaluation.top_k)
        for number, question in enumerate(questions[: 2 * HALF]):
            part = "fit" if number < HALF else "measure"
            for without in Without:
                documents = answers.retrieve(question, without)
                row = row_of(answerer, question.text, documents, index.idf, False)
                head = {"set": path.name, "part": part, "kind": str(without)}
                yield head | {"answerable": without is Without.NOTHING} | row


def own_rows(services, path):
    index = services.library.open_index()
    answerer = services.evaluation.make_answerer(index)
    for one in load_sample_questions(path):
        is_measured_apart = one.kind in (Kind.SMALL_TALK, Kind.SUMMARY, Kind.WHICH_DOCUMENT)
        if one.split != "tune" or one.history or is_measured_apart:
            continue
        documents = services.search.retriever(LOCAL_USER, k=5).invoke(one.question)
        for foreign in (False, True):
            row = row_of(answerer, one.question, documents, index.idf, foreign, one)
            answerable = one.kind not in WITHOUT_ANSWER
            answerable &= foreign is (one.kind is Kind.CROSS_LANGUAGE)
            head = {"set": OWN, "part": "fit", "kind": str(one.kind), "foreign": foreign}
            yield head | {"answerable": answerable, "question": one.question} | row


def row_of(answerer, question, documents, idf, foreign, labeled=None):
    scored = [
        one
        for one in answerer.scored(question, question, documents)
        if is_foreign(question, documents[one.n - 1].page_content) is foreign
    ]
    row = {"language": script_family(question), "measures": None}
    if scored:
        measures = measures_of(question, question, documents, scored, idf, answerer.embeddings)
        row |= {"measures": asdict(measures)}
    if labeled:
        quotes = [
            Quote(
                PurePath(found.metadata["location"]).name, found.page_content[one.start : one.end]
            )
            for one in scored[:3]
            for found in [documents[one.n - 1]]
        ]
        row |= {"right": is_right(labeled, quotes)}
    return row


def print_progress(progress) -> None:
    print(progress.done, "of", progress.total, end="\r", file=sys.stderr)


if __name__ == "__main__":
    main()
