"""Determines how much weight a question gives to aspects."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from operator import attrgetter

from services.catalog.lexicon import Lexicon, Mention
from services.catalog.word_finder import Phrases

REQUESTED = 0.9
"""The weight of a requested aspect. This and the next two are the project's own choice: 1 and 0 are
reserved for explicit preferences, and a hedged request stays above the default of 0.5."""
HEDGED = 0.6
"""The weight of an aspect requested only if possible: 되도록, if possible, できれば."""
INDIFFERENT = 0.1
"""The weight of an aspect that may be bad: 비싸도 괜찮으니, price doesn't matter."""

_PHRASES = Phrases("weights")
_REACH = 32
_BESIDE = 16


def aspect_weights(text: str, lexicon: Lexicon) -> dict[str, float]:
    """The weight of each aspect that a folded question mentions.

    It is `INDIFFERENT` if any mention expresses indifference, else the highest weight of all
    mentions. Mentioning a high price without rejecting it counts as indifference.
    """
    mentions = lexicon.mentions(f"{text}.")
    indifferent = set(_indifferent(text, mentions))
    hedged = set(_find_hedges(text, mentions))
    weights: dict[str, float] = {}
    for mention in mentions:
        if mention in indifferent:
            weights[mention.aspect] = INDIFFERENT
    for mention in mentions:
        if all(one.aspect != mention.aspect for one in indifferent):
            weight = _weight(text, mention, mention in hedged)
            weights[mention.aspect] = max(weight, weights.get(mention.aspect, 0))
    return weights


def _weight(text: str, mention: Mention, hedged: bool) -> float:
    if mention.aspect == "price" and mention.praises is False:
        around = text[max(0, mention.start - 5) : mention.end + 2]
        is_avoided = _PHRASES["avoided"].match(text, mention.end)
        return REQUESTED if is_avoided or _PHRASES["too_much"].search(around) else INDIFFERENT
    return HEDGED if hedged else REQUESTED


def _indifferent(text: str, mentions: Sequence[Mention]) -> Iterator[Mention]:
    for phrase in _PHRASES["before"].finditer(text):
        yield from _following(text, mentions, phrase.end())
    for phrase in _PHRASES["before_blame"].finditer(text):
        following = _following(text, mentions, phrase.end())
        yield from (mention for mention in following if mention.praises is False)
    for phrase in _PHRASES["after"].finditer(text):
        yield from _preceding(text, mentions, phrase.start())
    for mention in mentions:
        if mention.praises is False and _PHRASES["even_so"].match(text, mention.end - 1):
            yield mention
        if _needs_no_luxury(text, mention):
            yield mention
    yield from _less_important(text, mentions)
    for phrase in _PHRASES["concession"].finditer(text):
        preceding = _preceding(text, mentions, phrase.start() + 1)
        yield from (one for one in preceding if _concedes(text, one, phrase.start() + 1))


def _needs_no_luxury(text: str, mention: Mention) -> bool:
    """Whether luxury is unnecessary: "not fancy", 고급스럽지 않아도.

    Such a mention asks for neither a bad ambience nor a good one.
    """
    words = text[mention.start : mention.end]
    is_criticism = mention.aspect == "ambience" and mention.praises is False
    return is_criticism and _PHRASES["luxury"].search(words) is not None


def _less_important(text: str, mentions: Sequence[Mention]) -> Iterator[Mention]:
    """Yield the mentions that a comparison ranks second.

    Examples are taste rather than atmosphere, 분위기보다 맛, and 雰囲気より味.
    """
    for phrase in _PHRASES["first_before"].finditer(text):
        first = _preceding(text, mentions, phrase.start() + 1)[-1:]
        yield from _of_other_aspects(first, _following(text, mentions, phrase.end()))
    for phrase in _PHRASES["first_behind"].finditer(text):
        first = [one for one in mentions if 0 <= one.start - phrase.end() < _REACH][:1]
        second = _preceding(text, [one for one in mentions if one not in first], phrase.end())
        is_cut = first and _PHRASES["stop"].search(text, phrase.end(), first[0].start)
        touches = (
            second and not is_cut and phrase.start() - min(one.start for one in second) < _BESIDE
        )
        yield from _of_other_aspects(first, second) if touches else ()


def _of_other_aspects(first: Sequence[Mention], second: Sequence[Mention]) -> list[Mention]:
    """The mentions in `second` of aspects other than the first; none if `first` is empty."""
    return [one for one in second if first and one.aspect != first[0].aspect]


def _concedes(text: str, mention: Mention, end: int) -> bool:
    """Whether the question accepts something bad: 기다려도 돼, but not 기다리지 않아도 돼."""
    if mention.aspect == "waiting":
        return not _PHRASES["denies"].search(text, mention.start, end)
    return mention.praises is False or mention.aspect == "price"


def _find_hedges(text: str, mentions: Sequence[Mention]) -> Iterator[Mention]:
    for phrase in _PHRASES["hedge"].finditer(text):
        stop = _PHRASES["stop"].search(text, _past_comma(text, phrase.end()))
        end = stop.start() if stop else len(text)
        inside = [one for one in mentions if phrase.end() <= one.start < end]
        before = _preceding(text, mentions, phrase.start())
        earlier = [] if _PHRASES["forward"].match(text, phrase.start()) else before
        closes = before and text[phrase.end() : phrase.end() + 1] in (",", "、")
        yield from before if closes and _same_clause(text, before[0], phrase) else inside or earlier
    for phrase in _PHRASES["hedge_after"].finditer(text):
        yield from _preceding(text, mentions, phrase.start())


def _same_clause(text: str, mention: Mention, phrase: re.Match[str]) -> bool:
    return _PHRASES["stop"].search(text, mention.end, phrase.start()) is None


def _past_comma(text: str, position: int) -> int:
    while text[position : position + 1] in (" ", ",", "、"):
        position += 1
    return position


def _following(text: str, mentions: Sequence[Mention], position: int) -> list[Mention]:
    """The mention directly after the position, and those coordinated with it."""
    after = [one for one in mentions if one.end > position]
    if not after or after[0].start - position > _REACH:
        return []
    if _PHRASES["stop"].search(text, position, max(position, after[0].start)):
        return []
    return _coordination(text, after)


def _preceding(text: str, mentions: Sequence[Mention], position: int) -> list[Mention]:
    """The mention directly before the position, and those coordinated with it, last first."""
    before = [one for one in mentions if one.start < position]
    if not before or position - before[-1].end > _REACH:
        return []
    if _PHRASES["sentence_stop"].search(text, min(before[-1].end, position), position):
        return []
    return _coordination(text, before[::-1])


def _coordination(text: str, mentions: Sequence[Mention]) -> list[Mention]:
    """The first mention, and those that follow it with only words such as "and" in between."""
    coordinated = list(mentions[:1])
    for one, other in pairwise(mentions):
        first, second = sorted((one, other), key=attrgetter("start"))
        if not _PHRASES["coordinated"].fullmatch(text, min(first.end, second.start), second.start):
            break
        coordinated.append(other)
    return coordinated
