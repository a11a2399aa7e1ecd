"""Coefficients of `chains.answer_decision`, fitted on labelled sets.

    python -m fitting.answer_decision SET...

Each SET is a folder that `cli.py evaluate --answers` reads. Its questions are shuffled by a seed;
the first 600 are fitted on, the next 600 measured on. Every question is asked with its answer in
the set, without its article and without its paragraph (see `services.answer_evaluation`). The
model is a logistic regression with a little weight decay, its bias moved so that 5 % of the
answerable questions of the first half are refused.
"""

import random
import sys
from dataclasses import astuple
from pathlib import Path

import numpy as np

from bootstrap import build_services
from chains.answer_decision import Measures, measures_of
from domain import SearchMode
from evaluation.datasets import load_labelled_set
from services.answer_evaluation import AnswerEvaluation, Without
from services.ranking import build_ranker

HALF = 600
REFUSED = 0.05
DECAY = 1e-3
NAMES = tuple(Measures.__dataclass_fields__)
BY_WORDS = np.array([name in ("passage", "sentence", "share") for name in NAMES])
BY_MEANING = np.ones(len(NAMES), dtype=bool)


def main() -> None:
    services = build_services()
    for path in map(Path, sys.argv[1:]):
        report(path.name, measured(services.evaluation, path))


def measured(evaluation, path):
    """By what is left out, a row of measures for each question; NaN where nothing was found."""
    labelled = load_labelled_set(path)
    asked = [one for one in labelled.questions if one.answers]
    random.Random(0).shuffle(asked)  # noqa: S311  # a seeded sample, no secret
    asked = asked[: 2 * HALF]
    with evaluation._indexed(labelled, print_progress) as index:
        rank = build_ranker(SearchMode.CONVEX, index, evaluation.options)
        answerer = evaluation.make_answerer(index.keywords)
        answers = AnswerEvaluation(labelled, index.passages, rank, answerer, evaluation.top_k)
        return {
            without: np.array([row(answers, one, without, index.keywords.idf) for one in asked])
            for without in Without
        }


def row(answers, question, without, idf):
    documents = answers.found(question, without)
    scored = answers.answerer.scored(question.text, question.text, documents)
    if not scored:
        return [np.nan] * len(NAMES)
    return astuple(measures_of(question.text, documents, scored[0], idf))


def print_progress(progress) -> None:
    print(progress.done, "of", progress.total, end="\r", file=sys.stderr)


def report(name, rows) -> None:
    half = len(rows[Without.NOTHING]) // 2
    for label, used in (("meaning", BY_MEANING), ("words", BY_WORDS)):
        fitted_on = {without: found[:half] for without, found in rows.items()}
        coefficients, bias = fitted(fitted_on, used)
        shown = " ".join(
            f"{one} {value:.1f}" for one, value in zip(NAMES, coefficients, strict=True)
        )
        print(f"{name} {label}: {shown} bias {bias:.2f}")
        for part, of in (("fitted", slice(0, half)), ("measured", slice(half, None))):
            shares = {
                without: share_answered(found[of], coefficients, bias)
                for without, found in rows.items()
            }
            print(f"  {part}:", " ".join(f"{one} {value:.3f}" for one, value in shares.items()))


def fitted(rows, used):
    answerable = without_nan(rows[Without.NOTHING])
    others = without_nan(np.concatenate([rows[Without.ARTICLE], rows[Without.PARAGRAPH]]))
    measures = np.concatenate([answerable, others])[:, used]
    truth = np.r_[np.ones(len(answerable)), np.zeros(len(others))]
    mean, deviation = measures.mean(axis=0), measures.std(axis=0) + 1e-9
    weights = logistic((measures - mean) / deviation, truth)
    coefficients = np.zeros(len(used))
    coefficients[used] = weights / deviation
    return coefficients, -np.quantile(answerable @ coefficients, REFUSED)


def logistic(measures, truth, rounds=50):
    """Newton's method; the last weight, of the constant, is left out of the result."""
    inputs = np.c_[measures, np.ones(len(measures))]
    decay = DECAY * len(inputs) * np.r_[np.ones(measures.shape[1]), 0]
    weights = np.zeros(inputs.shape[1])
    for _ in range(rounds):
        likely = 1 / (1 + np.exp(-inputs @ weights))
        slope = inputs.T @ (truth - likely) - decay * weights
        curve = (inputs * (likely * (1 - likely))[:, None]).T @ inputs + np.diag(decay)
        weights += np.linalg.solve(curve, slope)
    return weights[:-1]


def share_answered(rows, coefficients, bias):
    return float(np.mean(np.nan_to_num(rows @ coefficients + bias, nan=-1) > 0))


def without_nan(rows):
    return rows[~np.isnan(rows).any(axis=1)]


if __name__ == "__main__":
    main()
