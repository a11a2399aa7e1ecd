"""A catalog of any size: the sample restaurants and their reviews, repeated."""

import json
import re
import shutil
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from langchain_core.embeddings import Embeddings

SAMPLE = Path(__file__).parents[1] / "samples" / "catalogs" / "restaurants"
DIMENSION = 384
_WORD = re.compile(r"\w+")


def write_catalog(folder: Path, places: int) -> int:
    """Write a description, `places` places, and their reviews; returns the number of reviews.

    Repeated restaurants have other ids and names.
    """
    shutil.copy(SAMPLE / "catalog.yaml", folder)
    known = _rows("places.jsonl")
    copies = [(known[n % len(known)], n // len(known)) for n in range(places)]
    reviews = list(_reviews(copies))
    _write(folder / "places.jsonl", (_place(*copy) for copy in copies))
    _write(folder / "reviews.jsonl", reviews)
    return len(reviews)


def _place(row: dict[str, Any], copy: int) -> dict[str, Any]:
    return row | {"place_id": f"{row['place_id']}-{copy}", "name": f"{row['name']} {copy}"}


def _reviews(copies: Iterable[tuple[dict[str, Any], int]]) -> Iterator[dict[str, Any]]:
    of = defaultdict(list)
    for review in _rows("reviews.jsonl"):
        of[review["place_id"]].append(review)
    for row, copy in copies:
        for review in of[row["place_id"]]:
            ids = {name: f"{review[name]}-{copy}" for name in ("review_id", "place_id")}
            yield review | ids


def _rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (SAMPLE / name).read_text("utf-8").splitlines()]


def _write(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_text("".join(lines), "utf-8")


class WordVectors(Embeddings):
    """Sums of random word directions: shared words raise the cosine, at next to no cost."""

    def __init__(self) -> None:
        self._known: dict[str, Any] = {}

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """One for each text."""
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        """The normalized sum of the words' directions."""
        words = _WORD.findall(text.lower()) or [""]
        together = np.sum([self._of(word) for word in words], axis=0)
        return (together / np.linalg.norm(together)).tolist()  # type: ignore[no-any-return]

    def _of(self, word: str) -> Any:
        if word not in self._known:
            rng = np.random.default_rng(zlib.crc32(word.encode()))
            self._known[word] = rng.standard_normal(DIMENSION, dtype=np.float32)
        return self._known[word]
