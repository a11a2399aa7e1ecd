"""Coefficients of `chains.extractive.answer_decision`, fitted to measures of labeled questions.

    python -m benchmarks.fitting.answer_decision ROWS...

Each file in ROWS was written by `benchmarks.fitting.answer_measures`. For each language, fits a
logistic regression with weight decay to the language's labeled set and to Footnote's own questions
(weighted by OWN_SHARE). Own questions in other languages count a third as much as those in the
language itself. Of the answerable own questions, only those whose answer is among the first three
sentences are used. The bias is chosen so that `REFUSED` of these are refused, each judged by a
model fitted without it; if no measure of meaning is available, so that `STRICT` of the labeled
set's answerable questions are. Prints the coefficients and the share of unanswerable questions
that are answered, at that bias and at the bias that refuses 5 % of the labeled set's answerable
questions.
"""

import json
import sys
from pathlib import Path

import numpy as np

from benchmarks.fitting.answer_measures import OWN
from chains.extractive.answer_decision import Measures
from services.evaluation.sample_evaluation import WITHOUT_ANSWER

NAMES = tuple(Measures.__dataclass_fields__)
WITHIN = tuple(name for name in NAMES if name != "lead")  # a labeled set is in one language
BY_WORDS = ("passage", "sentence", "share", "lacking")
ACROSS = ("nearest", "lead")
LANGUAGES = ("latin", "korean", "japanese")
REFUSED, REFUSED_ACROSS, STRICT = 0.4, 0.65, 0.05
OWN_SHARE = {"BY_MEANING": 0.3, "BY_WORDS": 0.05}
OTHER_LANGUAGES = 1 / 3
DECAY = 3e-3


def main() -> None:
    lines = [line for path in sys.argv[1:] for line in Path(path).read_text("utf-8").splitlines()]
    rows = [row for row in map(json.loads, lines) if row["measures"]]
    for label, names in (("BY_MEANING", WITHIN), ("BY_WORDS", BY_WORDS)):
        for language in LANGUAGES:
            report(label, rows, language, names)
    report_across(rows)


def report(label, rows, language, names) -> None:
    own = [row for row in rows if is_own(row) and row["language"] == language]
    others = [row for row in rows if is_own(row) and row["language"] != language]
    labeled = [row for row in rows if row["set"] != OWN and row["language"] == language]
    fitted_on = [row for row in labeled if row["part"] == "fit"]
    weight = len(fitted_on) * OWN_SHARE[label] / (1 - OWN_SHARE[label])
    each = weight / (len(own) + OTHER_LANGUAGES * len(others))
    model = Model(
        own + others + fitted_on,
        [each] * len(own) + [each * OTHER_LANGUAGES] * len(others) + [1] * len(fitted_on),
        names,
    )
    answerable = [row for row in fitted_on if row["answerable"]]
    bias = -np.quantile(model.odds(answerable), STRICT)
    if label == "BY_MEANING":
        bias = -np.quantile(model.left_out(own, answerable=True), REFUSED)
    print(label, language, model.as_python(bias))
    left_out = model.left_out(own, answerable=False)
    print(f"  own questions without an answer, answered: {np.mean(left_out + bias > 0):.3f}")
    report_labeled(model, [row for row in labeled if row["part"] == "measure"], bias)


def report_labeled(model, rows, bias) -> None:
    odds = {
        kind: model.odds([row for row in rows if row["kind"] == kind])
        for kind in ("nothing", "article", "paragraph")
    }
    strict = -np.quantile(odds["nothing"], STRICT)
    for label, at in (("this bias", bias), ("5 % refused", strict)):
        shares = (f"{kind} {np.mean(found + at > 0):.3f}" for kind, found in odds.items())
        print(f"  labeled set, answered at {label}:", ", ".join(shares))


def report_across(rows) -> None:
    own = [row for row in rows if row["set"] == OWN and row["foreign"]]
    weights = [1 if row["answerable"] or row["kind"] in WITHOUT_ANSWER else 0.4 for row in own]
    model = Model(own, weights, ACROSS, decay=3e-2)
    bias = -np.quantile(model.left_out(own, answerable=True), REFUSED_ACROSS)
    print("ACROSS", model.as_python(bias))
    print(f"  answered: {np.mean(model.left_out(own, answerable=False) + bias > 0):.3f}")


def is_own(row):
    """Whether a row of the own questions is clearly answered by its language, or clearly not."""
    if row["set"] != OWN or row["foreign"]:
        return False
    return row["right"] if row["answerable"] else True


class Model:
    """Weighted logistic regression by Newton's method; the constant does not decay."""

    def __init__(self, rows, weights, names, decay=DECAY) -> None:
        self.rows, self.names, self.decay = rows, names, decay
        self.weights = np.array(weights, dtype=float)
        inputs = measures(rows, names)
        self.mean = np.average(inputs, axis=0, weights=self.weights)
        self.deviation = inputs.std(axis=0) + 1e-9
        self.inputs = np.c_[(inputs - self.mean) / self.deviation, np.ones(len(rows))]
        self.truth = np.array([row["answerable"] for row in rows], dtype=float)
        self.fitted = self.fit(self.weights)

    def fit(self, weights, rounds=30):
        decay = self.decay * weights.sum() * np.r_[np.ones(len(self.names)), 0]
        fitted = np.zeros(len(decay))
        for _ in range(rounds):
            likely = 1 / (1 + np.exp(-self.inputs @ fitted))
            slope = self.inputs.T @ (weights * (self.truth - likely)) - decay * fitted
            curve = (self.inputs * (weights * likely * (1 - likely))[:, None]).T @ self.inputs
            fitted += np.linalg.solve(curve + np.diag(decay), slope)
        return fitted

    def left_out(self, rows, *, answerable):
        """The log-odds of the chosen rows, which were fitted first, each by a model without it."""
        chosen = [n for n in range(len(rows)) if rows[n]["answerable"] is answerable]
        return np.array([self.without(n) for n in chosen])

    def without(self, n):
        weights = self.weights.copy()
        weights[n] = 0
        return float(self.inputs[n] @ self.fit(weights, rounds=12))

    def odds(self, rows):
        """The log-odds of other rows."""
        inputs = (measures(rows, self.names) - self.mean) / self.deviation
        return np.c_[inputs, np.ones(len(rows))] @ self.fitted

    def as_python(self, bias):
        """The coefficients for unscaled measures, with `bias` added to the constant."""
        plain = self.fitted[:-1] / self.deviation
        known = dict(zip(self.names, plain, strict=True))
        values = ", ".join(f"{known.get(name, 0):.1f}" for name in NAMES)
        return f"Coefficients(Measures({values}), {self.fitted[-1] - plain @ self.mean + bias:.2f})"


def measures(rows, names):
    return np.array([[row["measures"][name] for name in names] for row in rows])


if __name__ == "__main__":
    main()
