"""Labelled sets on disk: the BEIR layout and the SQuAD layout, plain or gzipped."""

import csv
import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, cast

from errors import InputError


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """A question with the passages judged relevant to it (id -> grade, 0 allowed).

    `history` holds the earlier turns as `(role, text)`, `rewrite` a person's standalone
    form, `answers` strings of which any one is a right answer.
    """

    id: str
    text: str
    relevance: dict[str, int]
    history: tuple[tuple[str, str], ...] = ()
    rewrite: str = ""
    answers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LabelledSet:
    """A corpus (id -> title, text) with labelled questions over it."""

    name: str
    corpus: dict[str, tuple[str, str]] = field(repr=False)
    questions: list[LabelledQuestion] = field(repr=False)


def load_labelled_set(folder: Path) -> LabelledSet:
    """The labelled set of a folder.

    BEIR layout: `corpus.jsonl` (`_id`, `title`, `text`), `queries.jsonl` (`_id`, `text` and
    perhaps `history`, `rewrite`, `answers`), `qrels.tsv` (query, passage, grade, one header
    line). SQuAD layout: one `.json` with `data[].paragraphs[]`; a paragraph is a passage and
    the only one relevant to the questions asked on it; equal paragraphs are one.

    Raises:
        InputError: The folder holds neither, or a line can't be read; the file is named.
    """
    try:
        if _existing(folder / "corpus.jsonl"):
            return _load_beir(folder)
        for path in sorted([*folder.glob("*.json"), *folder.glob("*.json.gz")]):
            return _load_squad(folder.name, path)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{folder} can't be read as a labelled set: {error!r}") from error
    raise InputError(
        f"{folder} holds no labelled set. It needs corpus.jsonl, queries.jsonl and qrels.tsv "
        "(BEIR layout, plain or .gz), or one .json in the SQuAD layout."
    )


def _load_beir(folder: Path) -> LabelledSet:
    corpus = {
        row["_id"]: (row.get("title") or "", row["text"]) for row in _rows(folder / "corpus.jsonl")
    }
    relevance = _read_judgements(folder / "qrels.tsv")
    questions = [
        _question(row, relevance[row["_id"]])
        for row in _rows(folder / "queries.jsonl")
        if row["_id"] in relevance
    ]
    return LabelledSet(folder.name, corpus, questions)


def _question(row: dict[str, Any], relevance: dict[str, int]) -> LabelledQuestion:
    return LabelledQuestion(
        id=row["_id"],
        text=row["text"],
        relevance=relevance,
        history=tuple((turn["role"], turn["text"]) for turn in row.get("history", [])),
        rewrite=row.get("rewrite", ""),
        answers=tuple(row.get("answers", [])),
    )


def _read_judgements(path: Path) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    with _open(path) as file:
        lines = csv.reader(file, delimiter="\t")
        next(lines, None)
        for query, passage, grade in lines:
            found.setdefault(query, {})[passage] = int(grade)
    return found


def _load_squad(name: str, path: Path) -> LabelledSet:
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
            questions += [_squad_question(asked, key) for asked in paragraph["qas"]]
    return LabelledSet(name, corpus, questions)


def _squad_question(asked: dict[str, Any], passage: str) -> LabelledQuestion:
    answers = tuple(dict.fromkeys(answer["text"] for answer in asked["answers"]))
    return LabelledQuestion(asked["id"], asked["question"], {passage: 1}, answers=answers)


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
