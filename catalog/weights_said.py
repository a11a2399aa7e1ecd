"""How much a question says that each aspect matters."""

import re
from collections.abc import Iterator, Sequence

from catalog.lexicon import Lexicon, Mention
from catalog.weight_phrases import (
    AFTER,
    AVOIDED,
    BEFORE,
    BEFORE_BLAME,
    BESIDE,
    CONCESSION,
    COORDINATED,
    DENIES,
    EVEN_SO,
    FIRST_BEFORE,
    FIRST_BEHIND,
    FORWARD,
    HEDGE,
    HEDGE_AFTER,
    LUXURY,
    SENTENCE_STOP,
    STOP,
    TOO_MUCH,
)

WANTED = 0.9
"""The weight of an aspect that is asked for. This and the two below are the project's own choice:
1 and 0 are left to what people set themselves, and a hedged wish stays above the default of 0.5."""
HEDGED = 0.6
"""The weight of one that is asked for only if it can be had: 되도록, if possible, できれば."""
INDIFFERENT = 0.1
"""The weight of one that may be bad: 비싸도 괜찮으니, price doesn't matter, 値段は気にしない."""

_REACH = 32


def said_weights(text: str, lexicon: Lexicon) -> dict[str, float]:
    """The weight of each aspect that a folded question speaks of.

    `INDIFFERENT` where it says so once, else the highest that it asks for. Who speaks of a high
    price without avoiding it is indifferent to it.
    """
    mentions = lexicon.mentions(f"{text}.")
    indifferent = set(_indifferent(text, mentions))
    hedged = set(_hedged(text, mentions))
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
        avoided = AVOIDED.match(text, mention.end) or TOO_MUCH.search(around)
        return WANTED if avoided else INDIFFERENT
    return HEDGED if hedged else WANTED


def _indifferent(text: str, mentions: Sequence[Mention]) -> Iterator[Mention]:
    for phrase in BEFORE.finditer(text):
        yield from _following(text, mentions, phrase.end())
    for phrase in BEFORE_BLAME.finditer(text):
        following = _following(text, mentions, phrase.end())
        yield from (mention for mention in following if mention.praises is False)
    for phrase in AFTER.finditer(text):
        yield from _preceding(text, mentions, phrase.start())
    for mention in mentions:
        if mention.praises is False and EVEN_SO.match(text, mention.end - 1):
            yield mention
        if _needs_no_luxury(text, mention):
            yield mention
    yield from _less_wanted(text, mentions)
    for phrase in CONCESSION.finditer(text):
        preceding = _preceding(text, mentions, phrase.start() + 1)
        yield from (one for one in preceding if _may_be_so(text, one, phrase.start() + 1))


def _needs_no_luxury(text: str, mention: Mention) -> bool:
    """Not fancy, 고급스럽지 않아도: no wish for a bad ambience, but none for a good one."""
    said = text[mention.start : mention.end]
    return mention.aspect == "ambience" and mention.praises is False and bool(LUXURY.search(said))


def _less_wanted(text: str, mentions: Sequence[Mention]) -> Iterator[Mention]:
    """What a comparison puts second: taste rather than atmosphere, 분위기보다 맛, 雰囲気より味."""
    for phrase in FIRST_BEFORE.finditer(text):
        first = _preceding(text, mentions, phrase.start() + 1)[-1:]
        yield from _unlike(first, _following(text, mentions, phrase.end()))
    for phrase in FIRST_BEHIND.finditer(text):
        first = [one for one in mentions if 0 <= one.start - phrase.end() < _REACH][:1]
        second = _preceding(text, [one for one in mentions if one not in first], phrase.end())
        is_cut = first and STOP.search(text, phrase.end(), first[0].start)
        touches = (
            second and not is_cut and phrase.start() - min(one.start for one in second) < BESIDE
        )
        yield from _unlike(first, second) if touches else ()


def _unlike(first: Sequence[Mention], second: Sequence[Mention]) -> list[Mention]:
    """The second ones, if there is a first, without its own aspect."""
    return [one for one in second if first and one.aspect != first[0].aspect]


def _may_be_so(text: str, mention: Mention, end: int) -> bool:
    """Whether the concession is of something bad: 기다려도 돼, and not 기다리지 않아도 돼."""
    if mention.aspect == "waiting":
        return not DENIES.search(text, mention.start, end)
    return mention.praises is False or mention.aspect == "price"


def _hedged(text: str, mentions: Sequence[Mention]) -> Iterator[Mention]:
    for phrase in HEDGE.finditer(text):
        stop = STOP.search(text, _past_comma(text, phrase.end()))
        end = stop.start() if stop else len(text)
        inside = [one for one in mentions if phrase.end() <= one.start < end]
        before = _preceding(text, mentions, phrase.start())
        earlier = [] if FORWARD.match(text, phrase.start()) else before
        closes = before and text[phrase.end() : phrase.end() + 1] in (",", "、")
        yield from before if closes and _same_clause(text, before[0], phrase) else inside or earlier
    for phrase in HEDGE_AFTER.finditer(text):
        yield from _preceding(text, mentions, phrase.start())


def _same_clause(text: str, mention: Mention, phrase: re.Match[str]) -> bool:
    return STOP.search(text, mention.end, phrase.start()) is None


def _past_comma(text: str, place: int) -> int:
    while text[place : place + 1] in (" ", ",", "、"):
        place += 1
    return place


def _following(text: str, mentions: Sequence[Mention], place: int) -> list[Mention]:
    """The mention right behind the place, with those named together with it."""
    behind = [one for one in mentions if one.end > place]
    if not behind or behind[0].start - place > _REACH:
        return []
    if STOP.search(text, place, max(place, behind[0].start)):
        return []
    found = behind[:1]
    for one in behind[1:]:
        if not COORDINATED.fullmatch(text, min(found[-1].end, one.start), one.start):
            break
        found.append(one)
    return found


def _preceding(text: str, mentions: Sequence[Mention], place: int) -> list[Mention]:
    """The mention right before the place, with those named together with it."""
    before = [one for one in mentions if one.start < place]
    if not before or place - before[-1].end > _REACH:
        return []
    if SENTENCE_STOP.search(text, min(before[-1].end, place), place):
        return []
    found = before[-1:]
    for one in reversed(before[:-1]):
        if not COORDINATED.fullmatch(text, min(one.end, found[-1].start), found[-1].start):
            break
        found.append(one)
    return found
