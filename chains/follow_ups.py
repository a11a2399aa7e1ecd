"""The terms of a conversation that a follow-up leaves out."""

import math
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from chains.history import History, cited_headings, questions
from chains.leaning import leans_on_history
from chains.terms import Key, find_terms, key_of, terms

Idf = Callable[[Sequence[str]], Mapping[str, float]]
"""How rare each token is in the library; a token it leaves out does not count."""

RECENCY = 0.5  # what a term counts in the question before
SAME_SUBJECT = 0.75  # the same where the later question leans on that one
LEANING_WEIGHT = 0.6  # what the terms of a leaning question count: its subject was named before
CITED_WEIGHT = 2.0  # how much more a term counts that the title or headings of a cited source hold


def salient_terms(question: str, history: History, limit: int, idf: Idf | None = None) -> list[str]:
    """The terms of the conversation that the question most likely leaves out.

    They come from the person's earlier questions, the newer the better, and where these hold
    none, from the title and headings of the source cited last; never from an answer, which may
    be wrong. Terms already in the question are left out, and with `idf` those that it does not
    know.

    Returns:
        At most `limit` words, those that stood together as one phrase; the newest first.
    """
    newest_first, headings = questions(history)[::-1], cited_headings(history)
    known = key_of(question)
    best = _best(_weights(newest_first, headings), known, idf)
    best = best or _best(dict.fromkeys(_keys(headings), 1.0), known, idf)
    return _as_phrases(best[:limit], [*newest_first, *headings])


def _best(weights: Mapping[Key, float], known: Key, idf: Idf | None) -> list[Key]:
    """The keys that are not known yet, the most telling first."""
    rarity = _rarity(weights, idf)
    new = [key for key in weights if rarity[key] > 0 and not key <= known]
    return sorted(new, key=lambda key: -weights[key] * rarity[key])


def _weights(newest_first: Iterable[str], headings: Sequence[str]) -> dict[Key, float]:
    """How much the terms of the questions count, by how long ago they were asked."""
    weights: dict[Key, float] = defaultdict(float)
    cited = key_of(" ".join(headings))
    weight = 1.0
    for text in newest_first:
        leans = leans_on_history(text)
        own = weight * LEANING_WEIGHT if leans else weight
        for key in _keys([text]):
            weights[key] += own * CITED_WEIGHT if key <= cited else own
        weight *= SAME_SUBJECT if leans else RECENCY
    return weights


def _keys(texts: Iterable[str]) -> list[Key]:
    """Each once and in their order: of equal weights the first wins, in every process."""
    return list(dict.fromkeys(key_of(term) for text in texts for term in terms(text)))


def _rarity(keys: Collection[Key], idf: Idf | None) -> dict[Key, float]:
    """The square root of the idf: a subject is rare, but the rarest word seldom is the subject."""
    if idf is None:
        return dict.fromkeys(keys, 1.0)
    known = idf(sorted({token for key in keys for token in key}))
    return {key: math.sqrt(max(known.get(token, 0.0) for token in key)) for key in keys}


def _as_phrases(keys: Iterable[Key], texts: Iterable[str]) -> list[str]:
    """Each key as it is first written, together with its neighbours among them."""
    wanted = set(keys)
    phrases: list[str] = []
    for text in texts:
        normal = unicodedata.normalize("NFKC", text)
        last_end = None
        for start, end, _ in find_terms(normal):
            key = key_of(normal[start:end])
            if key not in wanted:
                continue
            wanted.remove(key)
            if last_end is not None and normal[last_end:start] in ("", " "):
                phrases[-1] += normal[last_end:end]
            else:
                phrases.append(normal[start:end])
            last_end = end
    return phrases
