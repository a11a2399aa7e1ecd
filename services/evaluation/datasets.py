"""Reads labeled sets in BEIR or SQuAD layout, plain or gzipped."""

import csv
import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, cast

from domain.errors import InputError
from domain.messages import _


@dataclass(frozen=True, slots=True)
class LabeledQuestion:
    """A question with the passages judged for it; `relevance` has their grades, from 0, by id.

    `history` contains the earlier turns as `(role, text)`, `rewrite` is a standalone question
    written by a person, and `answers` are alternative reference answers.
    """

    id: str
    text: str
    relevance: dict[str, int]
    history: tuple[tuple[str, str], ...] = ()
    rewrite: str = ""
    answers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LabeledSet:
    """A corpus (title and text by id) with labeled questions about it."""

    name: str
    corpus: dict[str, tuple[str, str]] = field(repr=False)
    questions: list[LabeledQuestion] = field(repr=False)


def load_labeled_set(folder: Path) -> LabeledSet:
    """Load the labeled set in a folder.

    - BEIR layout: `corpus.jsonl` (`_id`, `title`, `text`); `queries.jsonl` (`_id`, `text`, and
      optionally `history`, `rewrite`, `answers`); and `qrels.tsv` (query, passage, grade), which
      begins with a header line.
    - SQuAD layout: a single `.json` file with `data[].paragraphs[]`. Each paragraph is a passage,
      and the only one relevant to its questions. Identical paragraphs are merged.

    Raises:
        InputError: The folder has neither layout, or its files can't be read; the message names
            the folder.
    """
    try:
        if _existing(folder / "corpus.jsonl"):
            return _load_beir(folder)
        for path in sorted([*folder.glob("*.json"), *folder.glob("*.json.gz")]):
            return _load_squad(folder.name, path)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            _("{folder} can't be read as a labeled set: {error}").format(
                folder=folder, error=repr(error)
            )
        ) from error
    raise InputError(
        _(
            "{folder} contains no labeled set. It must contain corpus.jsonl, queries.jsonl,"
            " and qrels.tsv (BEIR layout, plain or .gz), or one .json file in SQuAD layout."
        ).format(folder=folder)
    )


def _load_beir(folder: Path) -> LabeledSet:
    corpus = {
        row["_id"]: (row.get("title") or "", row["text"]) for row in _rows(folder / "corpus.jsonl")
    }
    relevance = _read_judgements(folder / "qrels.tsv")
    questions = [
        _question(row, relevance[row["_id"]])
        for row in _rows(folder / "queries.jsonl")
        if row["_id"] in relevance
    ]
    return LabeledSet(folder.name, corpus, questions)


def _question(row: dict[str, Any], relevance: dict[str, int]) -> LabeledQuestion:
    return LabeledQuestion(
        id=row["_id"],
        text=row["text"],
        relevance=relevance,
        history=tuple((turn["role"], turn["text"]) for turn in row.get("history", [])),
        rewrite=row.get("rewrite", ""),
        answers=tuple(row.get("answers", [])),
    )


def _read_judgements(path: Path) -> dict[str, dict[str, int]]:
    grades: dict[str, dict[str, int]] = {}
    with _open(path) as file:
        lines = csv.reader(file, delimiter="\t")
        next(lines, None)
        for query, passage, grade in lines:
            grades.setdefault(query, {})[passage] = int(grade)
    return grades


def _load_squad(name: str, path: Path) -> LabeledSet:
    ids: dict[str, str] = {}
    corpus: dict[str, tuple[str, str]] = {}
    questions = []
    with _open(path) as file:
        articles = json.load(file)["data"]
    for article in articles:
        for paragraph in article["paragraphs"]:
            text = paragraph["context"]
            key = ids.setdefault(text, f"p{len(ids)}")
            corpus[key] = (article.get("title", ""), text)
            questions += [_squad_question(entry, key) for entry in paragraph["qas"]]
    return LabeledSet(name, corpus, questions)


def _squad_question(entry: dict[str, Any], passage: str) -> LabeledQuestion:
    answers = tuple(dict.fromkeys(answer["text"] for answer in entry["answers"]))
    return LabeledQuestion(entry["id"], entry["question"], {passage: 1}, answers=answers)


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with _open(path) as file:
        for line in file:
            if line.strip():
                yield json.loads(line)


def _existing(path: Path) -> Path | None:
    zipped = path.with_name(f"{path.name}.gz")
    return path if path.exists() else zipped if zipped.exists() else None


def _open(path: Path) -> IO[str]:
    existing = _existing(path)
    if existing is None:
        raise FileNotFoundError(f"{path.name} is missing")
    if existing.suffix == ".gz":
        return cast(IO[str], gzip.open(existing, "rt", encoding="utf-8"))
    return existing.open(encoding="utf-8")
