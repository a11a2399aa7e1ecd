"""Turns clauses into English and Korean reviews, joining some of them with "and" and "but"."""

import re
from collections.abc import Mapping
from random import Random
from typing import NamedTuple, TypeVar

from benchmarks.sample_catalogs.words import sections

_T = TypeVar("_T")


def chance(*purpose: object) -> Random:
    """A random generator for one purpose; adding another purpose does not change its numbers."""
    return Random("/".join(["footnote", *map(str, purpose)]))


def choose(random: Random, weights: Mapping[_T, float]) -> _T:
    """Choose a random key with a probability proportional to its weight."""
    return random.choices(list(weights), list(weights.values()))[0]


def between(value: float, lowest: float, highest: float) -> float:
    """The value, clamped to the bounds."""
    return min(max(value, lowest), highest)


_ONE_OF = re.compile(r"\(([^()]*\|[^()]*)\)")
# Words that begin a full sentence, which may follow "and", "but", and "on the other hand".
_SUBJECT = re.compile(
    r"(?:the|we|they|it|it's|I|I've|our|you|there|there's|there are|everything|my|nobody|service|"
    r"staff|parking|getting|finding|this|that|half of|two of us|water|tables|orders|no one)\b"
)
_JOINABLE = 75


class Clause(NamedTuple):
    """A reviewer's statement without its period, and whether it praises."""

    text: str
    praises: bool


class Sentence(NamedTuple):
    """A sentence without its period; `praises` is None if it judges nothing."""

    text: str
    praises: bool | None


def fill(random: Random, phrase: str, words: dict[str, str]) -> str:
    """Fill in a phrase: choose one alternative of each (this|that), and insert the {words}."""
    chosen = _ONE_OF.sub(lambda match: random.choice(match[1].split("|")), phrase)
    return chosen.format(**words)


def english(random: Random, start: str, clauses: list[Clause], end: str, turns: str) -> str:
    """Write a review; `start` and `end` may be "". `turns` names the file of contrast phrases."""
    sentences = [Sentence(start, praises=None)] if start else []
    before: Clause | None = None
    for clause in clauses:
        if before is not None and _joins_english(random, before, clause):
            sentences[-1] = _joined_english(before, clause, sentences[-1].text)
            before = None
        else:
            contrasts = before is not None and before.praises != clause.praises
            text = _add_turn(random, clause, turns) if contrasts else clause.text
            sentences.append(Sentence(text, clause.praises))
            before = clause
    sentences += [Sentence(end, praises=None)] if end else []
    return _punctuated_english(random, sentences)


def _joins_english(random: Random, before: Clause, clause: Clause) -> bool:
    short = len(before.text) + len(clause.text) < _JOINABLE and "," not in before.text + clause.text
    whole = _SUBJECT.match(before.text) and _SUBJECT.match(clause.text)
    return bool(short and whole) and random.random() < 0.6


def _joined_english(before: Clause, clause: Clause, text: str) -> Sentence:
    alike = before.praises == clause.praises
    word = "and" if alike else "but"
    return Sentence(f"{text}, {word} {clause.text}", before.praises if alike else None)


def _add_turn(random: Random, clause: Clause, turns: str) -> str:
    """The clause, often after words that signal a contrast to the previous one."""
    if not _SUBJECT.match(clause.text) or random.random() < 0.35:
        return clause.text
    words = random.choice(sections(turns)[f"turn {'good' if clause.praises else 'bad'}"])
    return f"{words} {clause.text}" if words.endswith(":") else f"{words}, {clause.text}"


def _punctuated_english(random: Random, sentences: list[Sentence]) -> str:
    careless = random.random() < 0.08
    texts = [
        one.text if careless else one.text[0].upper() + one.text[1:] for one in sentences
    ]  # fmt: skip
    marks = ["!" if sentence.praises and random.random() < 0.2 else "." for sentence in sentences]
    return " ".join(text + mark for text, mark in zip(texts, marks, strict=True))


_STYLES = {"polite": 0.52, "noting": 0.22, "reporting": 0.14, "to friends": 0.12}
_PARTICLES = re.compile(r"([가-힣])(은/는|이/가|을/를)")


_LEADS_OVER = re.compile(r"(?:[^겠]더라고요|네요|(?!겠)[가-힣]어요|[좋많]아요)$")

_TWOFOLD = re.compile("데 |지만 |고 ")


class _Ending(NamedTuple):
    """A polite ending and its equivalents in the other styles."""

    polite: str
    noting: str
    reporting: str
    to_friends: str


# The first match wins. A noting style of "" nominalizes the stem: 하네요 to 함, 있더라고요 to 있음.
_ENDINGS = (
    _Ending("더라고요", "", "더라고요", "더라"),
    _Ending("네요", "", "네요", "네"),
    _Ending("거예요", "거임", "겁니다", "거야"),
    _Ending("이에요", "임", "입니다", "이야"),
    _Ending("예요", "임", "입니다", "야"),
    _Ending("나아요", "나음", "낫습니다", "나아"),
    _Ending("예뻐요", "예쁨", "예쁩니다", "예뻐"),
    _Ending("세요", "심", "십니다", "셔"),
    _Ending("해요", "함", "합니다", "해"),
    _Ending("돼요", "됨", "됩니다", "돼"),
    _Ending("가요", "감", "갑니다", "가"),
    _Ending("아요", "음", "습니다", "아"),
    _Ending("어요", "음", "습니다", "어"),
)


def korean(random: Random, start: str, clauses: list[Clause], end: str, turns: str) -> str:
    """Write a review; `start` and `end` may be "". `turns` names the file of contrast phrases."""
    style = choose(random, _STYLES)
    sentences = [Sentence(styled(start, style), praises=None)] if start else []
    before: Clause | None = None
    for clause in clauses:
        if before is not None and _joins_korean(random, before, clause):
            sentences[-1] = _joined_korean(random, before, clause, sentences[-1].text, style)
            before = None
        else:
            text = _turn(random, before, clause, turns) + styled(clause.text, style)
            sentences.append(Sentence(text, clause.praises))
            before = clause
    sentences += [Sentence(styled(end, style), praises=None)] if end else []
    return _punctuated_korean(random, sentences, style)


def styled(text: str, style: str) -> str:
    """Convert a polite clause to the style."""
    ending = _ending(text)
    stem = text.removesuffix(ending.polite)
    if style == "noting":
        return stem + ending.noting if ending.noting else _nominalize(stem)
    return stem + {"reporting": ending.reporting, "to friends": ending.to_friends}.get(
        style, ending.polite
    )


def with_particles(text: str) -> str:
    """Replace each 은/는, 이/가, and 을/를 with the particle that fits the preceding syllable."""
    return _PARTICLES.sub(lambda match: match[1] + match[2].split("/")[_final(match[1]) == 0], text)


def _joins_korean(random: Random, before: Clause, after: Clause) -> bool:
    simple = not _TWOFOLD.search(before.text + after.text)
    short = len(before.text) + len(after.text) < 48
    leads_over = simple and short and _LEADS_OVER.search(before.text)
    return bool(leads_over) and random.random() < 0.6


def _joined_korean(
    random: Random, before: Clause, after: Clause, text: str, style: str
) -> Sentence:
    """Join both clauses: 맛있었고 for agreement, 맛있었지만 for contrast."""
    stem = before.text.removesuffix(_ending(before.text).polite)
    turning = "는데" if before.text.endswith("어요") and random.random() < 0.6 else "지만"
    alike = before.praises == after.praises
    leading = text.removesuffix(styled(before.text, style)) + stem + ("고" if alike else turning)
    return Sentence(f"{leading} {styled(after.text, style)}", before.praises if alike else None)


def _turn(random: Random, before: Clause | None, clause: Clause, turns: str) -> str:
    """Words that signal a contrast to the previous clause, or ""."""
    if before is None or before.praises == clause.praises or random.random() < 0.3:
        return ""
    return random.choice(sections(turns)[f"turn {'good' if clause.praises else 'bad'}"]) + " "


def _ending(text: str) -> _Ending:
    return next(ending for ending in _ENDINGS if text.endswith(ending.polite))


def _nominalize(stem: str) -> str:
    final = _final(stem[-1])
    if final in (0, 8):  # no final consonant: add ㅁ; ㄹ: replace it with ㄻ
        return stem[:-1] + chr(ord(stem[-1]) - final + (16 if final == 0 else 10))
    return stem + "음"


def _final(syllable: str) -> int:
    """The index of the syllable's final consonant, 0 for none (Unicode, section 3.12)."""
    return (ord(syllable) - ord("가")) % 28


def _punctuated_korean(random: Random, sentences: list[Sentence], style: str) -> str:
    texts = [with_particles(sentence.text) for sentence in sentences]
    if style in ("noting", "to friends") and random.random() < 0.4:
        return ", ".join(texts) if len(texts) < 3 else ". ".join(texts)
    marks = [choose(random, _marks(sentence.praises, style)) for sentence in sentences]
    return " ".join(text + mark for text, mark in zip(texts, marks, strict=True))


def _marks(praises: bool | None, style: str) -> dict[str, float]:
    """The possible endings of a sentence, with their weights."""
    if praises is None:
        return {".": 1.0}
    marks = {".": 7.0, "!": 1.0, "~": 0.5} if praises else {".": 7.0, "...": 0.7}
    return marks if style == "reporting" else marks | {" ㅎㅎ" if praises else " ㅠㅠ": 0.6}
