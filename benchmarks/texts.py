"""Passages and questions to search words in: real ones as far as there are enough."""

import os
from pathlib import Path

import numpy as np

from benchmarks.afresh import EVAL_DATA, ROOT
from evaluation.datasets import load_labelled_set

LABELLED = "mtrag_cloud"
PASSAGE_WORDS, QUESTION_WORDS = 120, 8
VOCABULARY = 30_000

TextsAndQuestions = tuple[list[str], list[str], str]


def texts_and_questions(size: int, queries: int, *, made_up: bool = False) -> TextsAndQuestions:
    """So many passages, at most so many questions, and what they are in words.

    The passages are those of the labelled set `mtrag_cloud` where it is there
    (FOOTNOTE_EVAL_DATA or ../shared/data), then halves of two of them joined until there are
    enough; else, or if asked for, made-up words with Zipf's frequencies.
    """
    folder = Path(os.environ.get(EVAL_DATA, ROOT.parent / "shared" / "data")) / LABELLED
    if made_up or not folder.exists():
        about = f"made-up words with Zipf's frequencies, {queries} questions"
        return zipf(size, PASSAGE_WORDS), zipf(queries, QUESTION_WORDS, seed=1), about
    found = load_labelled_set(folder)
    real = [f"{title}\n{text}".strip() for title, text in found.corpus.values()]
    questions = [question.text for question in found.questions[:queries]]
    about = f"passages and {len(questions)} questions of the set {LABELLED}"
    if size > len(real):
        about += f", beyond its {len(real):,} passages halves of two of them joined"
    return [*real[:size], *joined(real, size - len(real))], questions, about


def zipf(count: int, words: int, seed: int = 0) -> list[str]:
    rng = np.random.default_rng(seed)
    weights = 1 / np.arange(1, VOCABULARY + 1)
    weights /= weights.sum()
    drawn = rng.choice(VOCABULARY, size=(count, words), p=weights)
    return [" ".join(f"w{number}" for number in row) for row in drawn]


def joined(real: list[str], count: int) -> list[str]:
    """New passages with the words, frequencies and lengths of real ones."""
    rng = np.random.default_rng(0)
    pairs = rng.integers(len(real), size=(max(0, count), 2)).tolist()
    return [
        f"{real[first][: len(real[first]) // 2]} {real[second][len(real[second]) // 2 :]}"
        for first, second in pairs
    ]
