"""How clauses become a Korean review: one way of ending sentences throughout, and particles.

Clauses are written as people speak politely (맛있었어요). Reviewers also note (맛있었음), report
(맛있었습니다), or write to friends (맛있었어).
"""

import re
from random import Random
from typing import NamedTuple

from sample_catalogues.chance import drawn
from sample_catalogues.sentences import Clause, Sentence
from sample_catalogues.words import sections

_STYLES = {"polite": 0.52, "noting": 0.22, "reporting": 0.14, "to friends": 0.12}
_PARTICLES = re.compile(r"([가-힣])(은/는|이/가|을/를)")


_LEADS_OVER = re.compile(r"(?:[^겠]더라고요|네요|(?!겠)[가-힣]어요|[좋많]아요)$")

_TWOFOLD = re.compile("데 |지만 |고 ")


class _Ending(NamedTuple):
    """A way to end politely, and what stands there in the other styles."""

    polite: str
    noting: str
    reporting: str
    to_friends: str


# The first that fits. A noting style of "" nominalizes the stem: 하네요 to 함, 있더라고요 to 있음.
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
    """The review; `start` and `end` may be "". `turns` names the words that turn a review."""
    style = drawn(random, _STYLES)
    sentences = [Sentence(styled(start, style), praises=None)] if start else []
    before: Clause | None = None
    for clause in clauses:
        if before is not None and _joins(random, before, clause):
            sentences[-1] = _joined(random, before, clause, sentences[-1].text, style)
            before = None
        else:
            text = _turn(random, before, clause, turns) + styled(clause.text, style)
            sentences.append(Sentence(text, clause.praises))
            before = clause
    sentences += [Sentence(styled(end, style), praises=None)] if end else []
    return _punctuated(random, sentences, style)


def styled(text: str, style: str) -> str:
    """The polite clause in the style."""
    ending = _ending(text)
    stem = text.removesuffix(ending.polite)
    if style == "noting":
        return stem + ending.noting if ending.noting else _nominalized(stem)
    return stem + {"reporting": ending.reporting, "to friends": ending.to_friends}.get(
        style, ending.polite
    )


def with_particles(text: str) -> str:
    """The text with the particle that fits the syllable before, for each of 은/는, 이/가, 을/를."""
    return _PARTICLES.sub(lambda match: match[1] + match[2].split("/")[_final(match[1]) == 0], text)


def _joins(random: Random, before: Clause, after: Clause) -> bool:
    simple = not _TWOFOLD.search(before.text + after.text)
    short = len(before.text) + len(after.text) < 48
    leads_over = simple and short and _LEADS_OVER.search(before.text)
    return bool(leads_over) and random.random() < 0.6


def _joined(random: Random, before: Clause, after: Clause, text: str, style: str) -> Sentence:
    """Both in one: 맛있었고 leads to more of the same, 맛있었지만 to the contrary."""
    stem = before.text.removesuffix(_ending(before.text).polite)
    turning = "는데" if before.text.endswith("어요") and random.random() < 0.6 else "지만"
    alike = before.praises == after.praises
    leading = text.removesuffix(styled(before.text, style)) + stem + ("고" if alike else turning)
    return Sentence(f"{leading} {styled(after.text, style)}", before.praises if alike else None)


def _turn(random: Random, before: Clause | None, clause: Clause, turns: str) -> str:
    """Words that say that the clause is of another mind than the one before, or none."""
    if before is None or before.praises == clause.praises or random.random() < 0.3:
        return ""
    return random.choice(sections(turns)[f"turn {'good' if clause.praises else 'bad'}"]) + " "


def _ending(text: str) -> _Ending:
    return next(ending for ending in _ENDINGS if text.endswith(ending.polite))


def _nominalized(stem: str) -> str:
    final = _final(stem[-1])
    if final in (0, 8):  # Without a final consonant, or with ㄹ: ㅁ goes below, or ㄻ.
        return stem[:-1] + chr(ord(stem[-1]) - final + (16 if final == 0 else 10))
    return stem + "음"


def _final(syllable: str) -> int:
    """The number of the syllable's final consonant, 0 for none (Unicode, section 3.12)."""
    return (ord(syllable) - ord("가")) % 28


def _punctuated(random: Random, sentences: list[Sentence], style: str) -> str:
    texts = [with_particles(said.text) for said in sentences]
    if style in ("noting", "to friends") and random.random() < 0.4:
        return ", ".join(texts) if len(texts) < 3 else ". ".join(texts)
    marks = [drawn(random, _marks(said.praises, style)) for said in sentences]
    return " ".join(text + mark for text, mark in zip(texts, marks, strict=True))


def _marks(praises: bool | None, style: str) -> dict[str, float]:
    """What may end a sentence, and how likely."""
    if praises is None:
        return {".": 1.0}
    marks = {".": 7.0, "!": 1.0, "~": 0.5} if praises else {".": 7.0, "...": 0.7}
    return marks if style == "reporting" else marks | {" ㅎㅎ" if praises else " ㅠㅠ": 0.6}
