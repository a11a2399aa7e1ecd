"""The measures of `chains.answer_measures` on labelled questions, a line of JSON each.

    python -m fitting.answer_measures OUT SET...

Each SET is a folder that `cli.py evaluate --answers` reads, or the folder of our own questions.
Of the former, shuffled by a seed, 300 questions are there to fit on and the next 300 to measure
on; each is asked with its answer in the set, without its article and without its paragraph (see
`services.answer_evaluation`). Of our own questions those of the `tune` split are asked, of the
library in FOOTNOTE_DATA_DIR, which holds the sample documents.
"""

import json
import random
import sys
from dataclasses import asdict
from pathlib import Path, PurePath

from bootstrap import build_services
from chains.answer_measures import measures_of
from domain import LOCAL_USER, SearchMode
from evaluation.datasets import load_labelled_set
from evaluation.sample_questions import (
    WITHOUT_ANSWER,
    Kind,
    Quote,
    holds_questions,
    is_right,
    load_sample_questions,
)
from language.script import is_foreign, script_family
from services.answer_evaluation import AnswerEvaluation, Without
from services.ranking import build_ranker

HALF = 300
OWN = "own"


def main() -> None:
    out, *sets = map(Path, sys.argv[1:])
    services = build_services()
    with out.open("a", encoding="utf-8") as file:
        for path in sets:
            rows = own_rows if holds_questions(path) else labelled_rows
            for row in rows(services, path):
                file.write(json.dumps(row, ensure_ascii=False) + "\n")


def labelled_rows(services, path):
    labelled, evaluation = load_labelled_set(path), services.evaluation
    questions = [one for one in labelled.questions if one.answers]
    random.Random(0).shuffle(questions)  # noqa: S311  # a seeded sample, no secret
    with evaluation._indexed(labelled, print_progress) as index:
        rank = build_ranker(SearchMode.CONVEX, index, evaluation.options)
        answerer = evaluation.make_answerer(index.keywords)
        answers = AnswerEvaluation(labelled, index.passages, rank, answerer, evaluation.top_k)
        for number, question in enumerate(questions[: 2 * HALF]):
            part = "fit" if number < HALF else "measure"
            for without in Without:
                documents = answers.found(question, without)
                row = row_of(answerer, question.text, documents, index.keywords.idf, False)
                head = {"set": path.name, "part": part, "kind": str(without)}
                yield head | {"answerable": without is Without.NOTHING} | row


def own_rows(services, path):
    index = services.library.open_index()
    answerer = services.evaluation.make_answerer(index.keywords)
    for one in load_sample_questions(path):
        asked_apart = one.kind in (Kind.SMALL_TALK, Kind.SUMMARY, Kind.WHICH_DOCUMENT)
        if one.split != "tune" or one.history or asked_apart:
            continue
        documents = services.search.retriever(LOCAL_USER, k=5).invoke(one.question)
        for foreign in (False, True):
            row = row_of(answerer, one.question, documents, index.idf, foreign, one)
            answerable = one.kind not in WITHOUT_ANSWER
            answerable &= foreign is (one.kind is Kind.CROSS_LANGUAGE)
            head = {"set": OWN, "part": "fit", "kind": str(one.kind), "foreign": foreign}
            yield head | {"answerable": answerable, "question": one.question} | row


def row_of(answerer, question, documents, idf, foreign, labelled=None):
    scored = [
        one
        for one in answerer.scored(question, question, documents)
        if is_foreign(question, documents[one.n - 1].page_content) is foreign
    ]
    row = {"language": script_family(question), "measures": None}
    if scored:
        measures = measures_of(question, question, documents, scored, idf, answerer.embeddings)
        row |= {"measures": asdict(measures)}
    if labelled:
        quotes = [
            Quote(
                PurePath(found.metadata["location"]).name, found.page_content[one.start : one.end]
            )
            for one in scored[:3]
            for found in [documents[one.n - 1]]
        ]
        row |= {"right": is_right(labelled, quotes)}
    return row


def print_progress(progress) -> None:
    print(progress.done, "of", progress.total, end="\r", file=sys.stderr)


if __name__ == "__main__":
    main()
