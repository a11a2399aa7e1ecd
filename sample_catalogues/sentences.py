"""How clauses become an English review: sentences, with "and" and "but" between some of them."""

import re
from random import Random
from typing import NamedTuple

from sample_catalogues.words import sections

_ONE_OF = re.compile(r"\(([^()]*\|[^()]*)\)")
# Words that begin a whole sentence, which may follow "and", "but" and "on the other hand".
_SUBJECT = re.compile(
    r"(?:the|we|they|it|it's|I|I've|our|you|there|there's|there are|everything|my|nobody|service|"
    r"staff|parking|getting|finding|this|that|half of|two of us|water|tables|orders|no one)\b"
)
_JOINABLE = 75


class Clause(NamedTuple):
    """Something that a reviewer says, without its full stop, and whether it praises."""

    text: str
    praises: bool


class Sentence(NamedTuple):
    """A sentence without its full stop; `praises` is None where it judges nothing."""

    text: str
    praises: bool | None


def filled(random: Random, phrase: str, words: dict[str, str]) -> str:
    """The phrase with one of each (this|that), and with the {words}."""
    chosen = _ONE_OF.sub(lambda match: random.choice(match[1].split("|")), phrase)
    return chosen.format(**words)


def english(random: Random, start: str, clauses: list[Clause], end: str, turns: str) -> str:
    """The review; `start` and `end` may be "". `turns` names the words that turn a review."""
    sentences = [Sentence(start, praises=None)] if start else []
    before: Clause | None = None
    for clause in clauses:
        if before is not None and _joins(random, before, clause):
            sentences[-1] = _joined(before, clause, sentences[-1].text)
            before = None
        else:
            turned = before is not None and before.praises != clause.praises
            text = _turned(random, clause, turns) if turned else clause.text
            sentences.append(Sentence(text, clause.praises))
            before = clause
    sentences += [Sentence(end, praises=None)] if end else []
    return _punctuated(random, sentences)


def _joins(random: Random, before: Clause, clause: Clause) -> bool:
    short = len(before.text) + len(clause.text) < _JOINABLE and "," not in before.text + clause.text
    whole = _SUBJECT.match(before.text) and _SUBJECT.match(clause.text)
    return bool(short and whole) and random.random() < 0.6


def _joined(before: Clause, clause: Clause, text: str) -> Sentence:
    alike = before.praises == clause.praises
    word = "and" if alike else "but"
    return Sentence(f"{text}, {word} {clause.text}", before.praises if alike else None)


def _turned(random: Random, clause: Clause, turns: str) -> str:
    """The clause, often after words that say that it is of another mind than the one before."""
    if not _SUBJECT.match(clause.text) or random.random() < 0.35:
        return clause.text
    words = random.choice(sections(turns)[f"turn {'good' if clause.praises else 'bad'}"])
    return f"{words} {clause.text}" if words.endswith(":") else f"{words}, {clause.text}"


def _punctuated(random: Random, sentences: list[Sentence]) -> str:
    careless = random.random() < 0.08
    texts = [
        said.text if careless else said.text[0].upper() + said.text[1:] for said in sentences
    ]  # fmt: skip
    marks = ["!" if said.praises and random.random() < 0.2 else "." for said in sentences]
    return " ".join(text + mark for text, mark in zip(texts, marks, strict=True))
