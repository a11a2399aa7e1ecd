"""Which judgement of a sentence belongs to which of the things that the sentence names."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple


class Kind(Enum):
    """What a word does.

    It names an aspect or a thing of it, judges alone or beside one of those, says that something
    matters, or only looks like another word.
    """

    ABOUT = "about"
    THING = "things"
    GOOD = "good"
    BAD = "bad"
    GOOD_WITH = "good_with"
    BAD_WITH = "bad_with"
    WEIGHS = "weighs"
    NOTHING = "nothing"


class Meaning(NamedTuple):
    """What a word may mean; without an aspect it judges whatever stands beside it."""

    aspect: str
    kind: Kind


class Word(NamedTuple):
    """A word of a folded text; `clause` counts the clauses of the text."""

    start: int
    end: int
    meanings: tuple[Meaning, ...]
    clause: int
    negated: bool


@dataclass(slots=True)
class Part:
    """What a sentence says of an aspect, growing while it is read."""

    aspect: str
    start: int
    end: int
    clause: int
    kind: Kind
    praises: bool | None = None
    judged: bool = False

    def take(self, word: Word, praises: bool | None) -> None:
        """Judge it by the word."""
        self.start, self.end = min(self.start, word.start), max(self.end, word.end)
        self.praises, self.judged = praises, True


_PRAISES = {
    Kind.GOOD: True, Kind.GOOD_WITH: True, Kind.BAD: False, Kind.BAD_WITH: False, Kind.WEIGHS: None
}  # fmt: skip
_NAMES = (Kind.ABOUT, Kind.THING)
_BY_ITSELF = (Kind.GOOD, Kind.BAD)
# What may stand between a judgement and what it stands before: "great Thai food", 좋은 분위기.
_BEFORE_NOUN = re.compile(
    r" (?:(?!(?:and|or|with|for|at|in|on|is|was|were|are|to|the|place|spot|restaurant)\b)"
    r"[a-z'-]+ ){0,2}|"
    r"[가-힣]{0,2}[은는한운던인의] ?(?:[가-힣]+ )?|い?な?の?"
)
_TOGETHER = re.compile(
    r"(?:'s)?,? (?:and|or|&|as well as|nor) (?:the |its |their |a |an )?|, ?|"
    r"(?:[와과도]|이?랑|하고|이?나|및|,|[은는이가]? ?물론)+ ?(?:및 )?|[、とやもか・]+|"
    r"[은는이가도] (?!.)"
)
_BEHIND_WEIGHING = re.compile(r" ?(?:(?:how|about|for|on|what|is) )?(?:the |its |a |good )?")
_REACH = 24
_CHOICE = re.compile(r"が(?:いい|良い|よい|イイ)$|[가-힣][이가] ?좋$")
_SUBJECT = re.compile(
    r"(?<!정말)(?<!제일)(?<!가장)(?<!아주)(?<!매우)(?<!진짜)(?<!완전)(?<!무척)(?<!너무)(?<!엄청)"
    r"(?<!상당히)(?<!꽤)(?<!참)"
    r"(?<!더)(?<!좀)(?<!이)(?<!그)(?<!고)(?<!며)(?<!은)(?<!한)(?<!운)(?<!에서)(?<!에)(?<!의)"
    r"(?<![즈쓰스크튼][ ])[가-힣] ?$|"
    r"[가-힣][이가은는도] ?$|[がはも]$"
)
_WORST_OF_NAMES = {"waiting": True}
_BLAMED_IF_MISSING = {"service", "ambience", "hygiene", "accessibility"}


class Judgements:
    """Reads the words of one sentence of a folded text."""

    def __init__(self, text: str, words: Sequence[Word]) -> None:
        self._text = text
        self._words = words
        self._parts: list[Part] = []
        self._names: dict[int, list[Part]] = {}

    def parts(self) -> list[Part]:
        """What is said of each aspect, once per statement; things alone are left out."""
        for place, word in enumerate(self._words):
            self._name(place, word)
        for place, word in enumerate(self._words):
            self._judge(place, word)
        kept = [part for part in self._parts if part.judged or part.kind is Kind.ABOUT]
        return list(_merged(sorted(kept, key=lambda part: (part.start, part.end))))

    def _name(self, place: int, word: Word) -> None:
        """Note the names of the sentence first: a judgement may stand before what it judges."""
        for aspect, kind in word.meanings:
            if kind in _NAMES:
                part = Part(aspect, word.start, word.end, word.clause, kind)
                if word.negated and kind is Kind.ABOUT:
                    _deny(part)
                self._names.setdefault(place, []).append(part)
                self._parts.append(part)

    def _judge(self, place: int, word: Word) -> None:
        judging = [meaning for meaning in word.meanings if meaning.kind in _PRAISES]
        if not judging or place in self._names:
            return
        before, behind = self._named_before(place), self._named_behind(place)
        beside = [meaning for meaning in judging if meaning.kind in (Kind.GOOD_WITH, Kind.BAD_WITH)]
        fits = [self._beside(word, meaning, [*behind, *before]) for meaning in beside]
        if any(fits):
            return
        for meaning in judging:
            if meaning.aspect and meaning.kind in _BY_ITSELF:
                self._alone(word, meaning, [*behind, *before])
            elif not meaning.aspect:
                of_behind = behind and not self._follows_its_subject(word)
                named = behind if of_behind else self._not_chosen(before, word)
                self._take(word, meaning, self._open(named, word))

    def _follows_its_subject(self, word: Word) -> bool:
        """Whether it judges what stands right before it: 서비스가 좋은 카페, 가기 좋은 카페."""
        before = self._text[max(0, word.start - _REACH) : word.start]
        if before.endswith("の"):
            return any(part.end == word.start - 1 for part in self._parts)
        return _SUBJECT.search(before) is not None and not self._text.startswith("의 ", word.end)

    def _not_chosen(self, named: list[Part], word: Word) -> list[Part]:
        """Without what is chosen, not judged: ピザがいい, 피자가 좋겠어."""
        chooses = _CHOICE.search(self._text[max(0, word.start - 2) : word.end])
        return [part for part in named if part.kind is not Kind.THING] if chooses else named

    def _open(self, named: list[Part], word: Word) -> list[Part]:
        """Those of its clause; without any there a judgement is of the last of a clause before."""
        if any(part.clause == word.clause for part in self._parts if part.start < word.start):
            named = [part for part in named if part.clause == word.clause]
        near = [part for part in named if part.clause == word.clause and not part.judged]
        return near or [part for part in named if not part.judged][-1:]

    def _beside(self, word: Word, meaning: Meaning, named: list[Part]) -> bool:
        fitting = [part for part in self._open(named, word) if part.aspect == meaning.aspect]
        self._take(word, meaning, fitting)
        return bool(fitting)

    def _alone(self, word: Word, meaning: Meaning, named: list[Part]) -> None:
        same = [
            part for part in named
            if part.aspect == meaning.aspect and part.clause == word.clause and not part.judged
        ]  # fmt: skip
        if not same:
            same = [Part(meaning.aspect, word.start, word.end, word.clause, Kind.ABOUT)]
            self._parts.extend(same)
        self._take(word, meaning, same)

    def _take(self, word: Word, meaning: Meaning, parts: list[Part]) -> None:
        praises = _PRAISES[meaning.kind]
        if praises is not None and word.negated:
            praises = not praises
        for part in parts:
            part.take(word, praises)

    def _named_before(self, place: int) -> list[Part]:
        """What is named before the word, in order, since the last judgement."""
        found: list[Part] = []
        for earlier in range(place - 1, -1, -1):
            names = self._names.get(earlier, [])
            if names and all(part.judged for part in names) and found:
                break
            found[:0] = [part for part in names if not part.judged]
        return found

    def _named_behind(self, place: int) -> list[Part]:
        """What is named right behind the word, with what is named together with that."""
        found: list[Part] = []
        weighs = any(meaning.kind is Kind.WEIGHS for meaning in self._words[place].meanings)
        link = _BEHIND_WEIGHING if weighs else _BEFORE_NOUN
        end = self._words[place].end
        for later in range(place + 1, len(self._words)):
            start = self._words[later].start
            if start - end > _REACH:
                break
            if later in self._names:
                if not link.fullmatch(self._text, end, start):
                    break
                found.extend(self._names[later])
                end, link = self._words[later].end, _TOGETHER
        return found


def _deny(part: Part) -> None:
    """No waiting is a praise, no service a blame; "no food" says nothing."""
    if part.aspect in _WORST_OF_NAMES or part.aspect in _BLAMED_IF_MISSING:
        part.praises, part.judged = part.aspect in _WORST_OF_NAMES, True


def _merged(parts: Sequence[Part]) -> Iterator[Part]:
    """Parts of one aspect and clause that say the same, or of which one says nothing, as one."""
    kept: dict[tuple[str, int], Part] = {}
    for part in parts:
        key = (part.aspect, part.clause)
        before = kept.get(key)
        if before is None or not _agree(before, part):
            if before is not None:
                yield before
            kept[key] = part
            continue
        before.start, before.end = min(before.start, part.start), max(before.end, part.end)
        before.praises = part.praises if before.praises is None else before.praises
    yield from kept.values()


def _agree(one: Part, other: Part) -> bool:
    return None in (one.praises, other.praises) or one.praises == other.praises
