"""Passages and questions for keyword search, from real texts as far as there are enough."""

import os
from pathlib import Path

import numpy as np

from benchmarks.afresh import EVAL_DATA, ROOT
from services.evaluation.datasets import load_labeled_set

LABELED = "mtrag_cloud"
PASSAGE_WORDS, QUESTION_WORDS = 120, 8
VOCABULARY = 30_000

TextsAndQuestions = tuple[list[str], list[str], str]


def texts_and_questions(size: int, queries: int, *, made_up: bool = False) -> TextsAndQuestions:
    """Passages, at most `queries` questions, and a description of them.

    The passages are those of the labeled set `mtrag_cloud` if present (in FOOTNOTE_EVAL_DATA or
    ../shared/data), followed by joined halves of two of them until there are enough. Otherwise,
    or on request, they are generated words with a Zipf distribution.
    """
    folder = Path(os.environ.get(EVAL_DATA, ROOT.parent / "shared" / "data")) / LABELED
    if made_up or not folder.exists():
        about = f"synthetic words with a Zipf distribution, {queries} questions"
        return zipf(size, PASSAGE_WORDS), zipf(queries, QUESTION_WORDS, seed=1), about
    labeled = load_labeled_set(folder)
    real = [f"{title}\n{text}".strip() for title, text in labeled.corpus.values()]
    questions = [question.text for question in labeled.questions[:queries]]
    about = f"passages and {len(questions)} questions of the set {LABELED}"
    if size > len(real):
        about += f", beyond its {len(real):,} passages halves of two of them joined"
    return [*real[:size], *joined(real, size - len(real))], questions, about


def zipf(count: int, words: int, seed: int = 0) -> list[str]:
    rng = np.random.default_rng(seed)
    weights = 1 / np.arange(1, VOCABULARY + 1)
    weights /= weights.sum()
    words_drawn = rng.choice(VOCABULARY, size=(count, words), p=weights)
    return [" ".join(f"w{number}" for number in row) for row in words_drawn]


def joined(real: list[str], count: int) -> list[str]:
    """New passages with the words, frequencies, and lengths of real ones."""
    rng = np.random.default_rng(0)
    pairs = rng.integers(len(real), size=(max(0, count), 2)).tolist()
    return [
        f"{real[first][: len(real[first]) // 2]} {real[second][len(real[second]) // 2 :]}"
        for first, second in pairs
    ]
