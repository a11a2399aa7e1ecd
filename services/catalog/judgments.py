"""Assigns the judgments of a sentence to the aspects that the sentence names."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from services.catalog.word_finder import Phrases

_PHRASES = Phrases("sentences")
_NEGATION_REACH = 40


def is_negated(text: str, start: int, end: int) -> bool:
    """Whether a span of a folded text is negated, for example by "not", 안, 〜지 않, or 〜ない.

    Only the 40 characters before and after the span are considered.
    """
    before = text[max(0, start - _NEGATION_REACH) : start]
    after = text[end : end + _NEGATION_REACH]
    negations = (
        bool(_PHRASES["negated_in_english"].search(_same_clause(before)))
        + _PHRASES.around("negated_in_korean", before, after)
        + bool(_PHRASES["negated_in_japanese"].match(after))
    )
    return negations % 2 == 1


def _same_clause(before: str) -> str:
    return re.split(r"[,.;:!?\n]", before)[-1]


class Kind(Enum):
    """The role of a word.

    It names an aspect or something that belongs to one, judges alone or only next to such a name
    (`*_WITH`), says that something matters, or merely contains another word (`NOTHING`).
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
    """A possible meaning of a word; with the aspect "", it judges any aspect next to it."""

    aspect: str
    kind: Kind


class Word(NamedTuple):
    """A word of a folded text; `clause` is the index of its clause in the text."""

    start: int
    end: int
    meanings: tuple[Meaning, ...]
    clause: int
    negated: bool


@dataclass(slots=True)
class Opinion:
    """An opinion about an aspect in a sentence; it is extended while the sentence is read."""

    aspect: str
    start: int
    end: int
    clause: int
    kind: Kind
    praises: bool | None = None
    judged: bool = False

    def judge_by(self, word: Word, praises: bool | None) -> None:
        """Extend the opinion by a word that judges the aspect."""
        self.start, self.end = min(self.start, word.start), max(self.end, word.end)
        self.praises, self.judged = praises, True


_PRAISES = {
    Kind.GOOD: True, Kind.GOOD_WITH: True, Kind.BAD: False, Kind.BAD_WITH: False, Kind.WEIGHS: None
}  # fmt: skip
_NAMES = (Kind.ABOUT, Kind.THING)
_ON_ITS_OWN = (Kind.GOOD, Kind.BAD)
_REACH = 24
_GOOD_IF_MISSING = {"waiting"}
_BAD_IF_MISSING = {"service", "ambience", "hygiene", "accessibility"}


class Judgments:
    """The opinions in one sentence of a folded text."""

    def __init__(self, text: str, words: Sequence[Word]) -> None:
        self._text = text
        self._words = words
        self._opinions: list[Opinion] = []
        self._names: dict[int, list[Opinion]] = {}

    def opinions(self) -> list[Opinion]:
        """The opinions in order; things without a judgment are omitted."""
        for index, word in enumerate(self._words):
            self._add_names(index, word)
        for index, word in enumerate(self._words):
            self._judge(index, word)
        opinions = [one for one in self._opinions if one.judged or one.kind is Kind.ABOUT]
        return list(_merge(sorted(opinions, key=lambda one: (one.start, one.end))))

    def _add_names(self, index: int, word: Word) -> None:
        """Collects the names first, because a judgment may precede what it judges."""
        for aspect, kind in word.meanings:
            if kind in _NAMES:
                opinion = Opinion(aspect, word.start, word.end, word.clause, kind)
                if word.negated and kind is Kind.ABOUT:
                    _negate(opinion)
                self._names.setdefault(index, []).append(opinion)
                self._opinions.append(opinion)

    def _judge(self, index: int, word: Word) -> None:
        meanings = [meaning for meaning in word.meanings if meaning.kind in _PRAISES]
        if not meanings or index in self._names:
            return
        before, after = self._names_before(index), self._names_after(index)
        with_name = [one for one in meanings if one.kind in (Kind.GOOD_WITH, Kind.BAD_WITH)]
        matches = [self._judge_name(word, one, [*after, *before]) for one in with_name]
        if any(matches):
            return
        for meaning in meanings:
            if meaning.aspect and meaning.kind in _ON_ITS_OWN:
                self._judge_aspect(word, meaning, [*after, *before])
            elif not meaning.aspect:
                is_about_next = after and not self._follows_its_subject(word)
                names = after if is_about_next else self._without_choice(before, word)
                self._apply(word, meaning, self._unjudged_names(names, word))

    def _follows_its_subject(self, word: Word) -> bool:
        """Whether the word judges what directly precedes it: 서비스가 좋은 카페, 가기 좋은 카페."""
        before = self._text[max(0, word.start - _REACH) : word.start]
        if before.endswith("の"):
            return any(one.end == word.start - 1 for one in self._opinions)
        has_subject = _PHRASES["subject"].search(before) is not None
        return has_subject and not self._text.startswith("의 ", word.end)

    def _without_choice(self, names: list[Opinion], word: Word) -> list[Opinion]:
        """Drop things that are chosen rather than judged: ピザがいい, 피자가 좋겠어."""
        chooses = _PHRASES["choice"].search(self._text[max(0, word.start - 2) : word.end])
        return [one for one in names if one.kind is not Kind.THING] if chooses else names

    def _unjudged_names(self, names: list[Opinion], word: Word) -> list[Opinion]:
        """The unjudged names in the word's clause, or else the last one of an earlier clause."""
        if any(one.clause == word.clause for one in self._opinions if one.start < word.start):
            names = [one for one in names if one.clause == word.clause]
        near = [one for one in names if one.clause == word.clause and not one.judged]
        return near or [one for one in names if not one.judged][-1:]

    def _judge_name(self, word: Word, meaning: Meaning, names: list[Opinion]) -> bool:
        matches = [one for one in self._unjudged_names(names, word) if one.aspect == meaning.aspect]
        self._apply(word, meaning, matches)
        return bool(matches)

    def _judge_aspect(self, word: Word, meaning: Meaning, names: list[Opinion]) -> None:
        same = [
            one for one in names
            if one.aspect == meaning.aspect and one.clause == word.clause and not one.judged
        ]  # fmt: skip
        if not same:
            same = [Opinion(meaning.aspect, word.start, word.end, word.clause, Kind.ABOUT)]
            self._opinions.extend(same)
        self._apply(word, meaning, same)

    def _apply(self, word: Word, meaning: Meaning, opinions: list[Opinion]) -> None:
        praises = _PRAISES[meaning.kind]
        if praises is not None and word.negated:
            praises = not praises
        for opinion in opinions:
            opinion.judge_by(word, praises)

    def _names_before(self, index: int) -> list[Opinion]:
        """The unjudged names between the previous judgment and the word, in order."""
        names: list[Opinion] = []
        for earlier in range(index - 1, -1, -1):
            candidates = self._names.get(earlier, [])
            if candidates and all(one.judged for one in candidates) and names:
                break
            names[:0] = [one for one in candidates if not one.judged]
        return names

    def _names_after(self, index: int) -> list[Opinion]:
        """The name directly after the word, and the names coordinated with it."""
        names: list[Opinion] = []
        weighs = any(meaning.kind is Kind.WEIGHS for meaning in self._words[index].meanings)
        link = _PHRASES["behind_weighing"] if weighs else _PHRASES["before_noun"]
        end = self._words[index].end
        for later in range(index + 1, len(self._words)):
            start = self._words[later].start
            if start - end > _REACH:
                break
            if later in self._names:
                if not link.fullmatch(self._text, end, start):
                    break
                names.extend(self._names[later])
                end, link = self._words[later].end, _PHRASES["together"]
        return names


def _negate(opinion: Opinion) -> None:
    """Judge a negated name: "no waiting" is praise, "no service" criticism, "no food" neither."""
    if opinion.aspect in _GOOD_IF_MISSING or opinion.aspect in _BAD_IF_MISSING:
        opinion.praises, opinion.judged = opinion.aspect in _GOOD_IF_MISSING, True


def _merge(opinions: Sequence[Opinion]) -> Iterator[Opinion]:
    """Merges opinions about one aspect in one clause unless they contradict each other."""
    merged: dict[tuple[str, int], Opinion] = {}
    for opinion in opinions:
        key = (opinion.aspect, opinion.clause)
        before = merged.get(key)
        if before is None or not _agree(before, opinion):
            if before is not None:
                yield before
            merged[key] = opinion
            continue
        before.start, before.end = min(before.start, opinion.start), max(before.end, opinion.end)
        before.praises = opinion.praises if before.praises is None else before.praises
    yield from merged.values()


def _agree(one: Opinion, other: Opinion) -> bool:
    return None in (one.praises, other.praises) or one.praises == other.praises
