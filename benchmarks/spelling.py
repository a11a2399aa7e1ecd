"""Speed and accuracy of spelling correction.

    python -m benchmarks.spelling [PASSAGES]

One known word of each question gets a typo: two letters swapped, one omitted or doubled, or
another vowel. Passages are in memory here; the program reads them from the ledger.
"""

import random
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.texts import LABELED, texts_and_questions
from domain.language.spelling import Script, TypedWord, words_to_check
from domain.language.tokens import keyword_tokens
from services.search.spelling_correction import Spelling
from storage.keywords.keyword_index import KeywordIndex

FEWEST = 5  # minimum letters of a word that gets a typo
BATCH = 2_000


class Texts:
    """Passages by their number."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts

    def of(self, ids: Sequence[str]) -> list[str]:
        """The passages of these ids."""
        return [self.texts[int(id_)] for id_ in ids]


def main(size: int = 10_000) -> None:
    texts, questions, about = texts_and_questions(size, 300)
    print(f"{size:,} passages: {about}")
    with tempfile.TemporaryDirectory() as folder:
        index = KeywordIndex(Path(folder))
        for start in range(0, size, BATCH):
            batch = enumerate(texts[start : start + BATCH], start=start)
            index.add([(str(row), text) for row, text in batch])
        spelling = Spelling(index, Texts(texts).of)
        tell("questions as they are", spelling, [(one, one) for one in questions])
        rng = random.Random(5)
        pairs = [(misspelled(one, index, rng), one) for one in questions]
        tell("with one typo each", spelling, [(typed, one) for typed, one in pairs if typed])


def tell(what: str, spelling: Spelling, pairs: Sequence[tuple[str, str]]) -> None:
    if not pairs:  # generated words have digits
        print(f"{what}: none, for the labeled set {LABELED} is not there")
        return
    times, right, unchanged = [], 0, 0
    for typed, meant in pairs:
        started = time.perf_counter()
        corrected = spelling.correct(typed)
        times.append(1000 * (time.perf_counter() - started))
        right += keyword_tokens(corrected) == keyword_tokens(meant)
        unchanged += corrected == typed
    p50, p95 = np.percentile(times, [50, 95])
    print(
        f"{what}: {len(pairs)} questions, {right} as they were meant, {unchanged} left alone,"
        f" p50 {p50:.2f} ms, p95 {p95:.2f} ms"
    )


def misspelled(question: str, index: KeywordIndex, rng: random.Random) -> str:
    """The question with a typo that makes a known word unknown; empty if there is none."""
    words = [word for word in words_to_check(question) if is_known(word.folded, index)]
    words = [word for word in words if word.script is Script.SPACED and len(word.folded) >= FEWEST]
    if not words:
        return ""
    word = rng.choice(words)
    typo = with_typo(word, rng)
    return "" if is_known(typo, index) else question[: word.start] + typo + question[word.end :]


def with_typo(word: TypedWord, rng: random.Random) -> str:
    letters = word.folded
    at = rng.randrange(1, len(letters) - 1)
    before, letter, after = letters[:at], letters[at], letters[at + 1 :]
    typos = [
        before + after,
        before + letter + letter + after,
        before + after[0] + letter + after[1:],
    ]
    if letter in "aeiou":
        typos.append(before + rng.choice("aeiou".replace(letter, "")) + after)
    return rng.choice(typos)


def is_known(word: str, index: KeywordIndex) -> bool:
    return all(index.counts(keyword_tokens(word)).values())


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
