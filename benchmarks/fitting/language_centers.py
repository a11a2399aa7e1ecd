"""Mean vectors of multilingual-e5-small by language, written to `models/e5_centers.npy`.

    python -m benchmarks.fitting.language_centers SET...

Each SET is a folder that `cli.py evaluate` reads, in the language of its texts. Only every second
passage and question is used, so that the other half can measure the effect of the centers.
"""

import sys
from pathlib import Path

import numpy as np

from domain.language.script import script_of
from models.builtin import BuiltinEmbeddings
from models.builtin_models import CENTERS, SCRIPTS, MultilingualE5
from services.evaluation.datasets import load_labeled_set

SAMPLE = 600
"""Texts of each kind from each set: more moves no center by .01."""


class RawE5(MultilingualE5):
    """The model as it was trained."""

    def adjust(self, vector, text, *, is_question):  # noqa: ARG002
        return vector


def main() -> None:
    cache = Path("data/cache")
    embeddings = BuiltinEmbeddings(RawE5(cache), cache)
    vectors = {(kind, script): [] for kind in ("passage", "question") for script in SCRIPTS}
    for folder in map(Path, sys.argv[1:]):
        labeled = load_labeled_set(folder)
        passages = [f"{title}\n{text}" for title, text in labeled.corpus.values()][::2][:SAMPLE]
        questions = [one.text for one in labeled.questions][::2][:SAMPLE]
        for text, vector in zip(passages, embeddings.embed_documents(passages), strict=True):
            vectors["passage", script_of(text)].append(vector)
        for text in questions:
            vectors["question", script_of(text)].append(embeddings.embed_query(text))
        print(folder.name, len(passages), "passages,", len(questions), "questions")
    means = [
        [np.mean(vectors[kind, script], axis=0) for script in SCRIPTS]
        for kind in ("passage", "question")
    ]
    np.save(CENTERS, np.array(means, dtype=np.float32))


if __name__ == "__main__":
    main()
