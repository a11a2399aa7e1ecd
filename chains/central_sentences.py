"""The sentences that stand for a whole document: its opening, and the center of each section."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle, islice

from langchain_core.documents import Document

from chains.follow_ups import Idf
from chains.whole_sentences import first_lines, whole_sentences
from domain import shared_headings
from language.tokens import content_tokens

MAX_SENTENCES = 6
"""How many sentences an extract has at most, the opening among them."""
SHARE = 3
"""Of so many sentences one is taken: an extract of a short document must be shorter still."""
TOO_LIKE = 0.7
"""The cosine from which a sentence says again what another one says."""
UNFINISHED = 0.7
"""What a sentence without a closing mark, such as a list item, counts."""
WITH_NUMBER = 1.2
"""What a sentence counts that names a number, as rules and figures do."""

Vector = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class CentralSentence:
    """A sentence to quote from the passage `place` (from 0), and the section it stands for.

    `section` is "" for the opening, and in a document without headings.
    """

    place: int
    words: str
    section: str = ""


@dataclass(frozen=True, slots=True)
class _Sentence:
    place: int
    at: int
    words: str
    vector: Vector
    weight: float


@dataclass(slots=True)
class _Section:
    name: str
    sentences: list[_Sentence] = field(default_factory=list)
    center: Counter[str] = field(default_factory=Counter)


def central_sentences(
    passages: Sequence[Document], idf: Idf | None = None
) -> list[CentralSentence]:
    """At most `MAX_SENTENCES` sentences of a document, in its order; the opening is the first.

    Central is what lies nearest to the middle of its section: the cosine of the sentence's words
    with all of the section's, each weighed by how rare it is in the library. Headings, table rows,
    code, questions and sentences that a passage cuts are not quoted; of a document that has
    nothing else, the first lines are.

    Args:
        passages: Of one document, in the order of its text.
        idf: The library's word statistics; without them all words count alike.
    """
    sections = _sections(passages, idf)
    sentences = [one for section in sections for one in section.sentences]
    if not sentences:
        return [CentralSentence(*line) for line in islice(first_lines(passages), SHARE)]
    opening = sentences[0]
    number = min(MAX_SENTENCES, max(2, math.ceil(len(sentences) / SHARE))) - 1
    chosen = _chosen(sections, opening, number)
    return [CentralSentence(opening.place, opening.words), *chosen]


def _chosen(sections: Sequence[_Section], opening: _Sentence, number: int) -> list[CentralSentence]:
    """The best sentence of each of the largest sections, then their second best ones.

    The opening stands for its own section.
    """
    taken, found = [opening], list[tuple[_Section, _Sentence]]()
    first, *others = sections
    largest = sorted(others or [first], key=_size, reverse=True)
    for section in islice(cycle(largest), number * len(largest)):
        best = _most_central(section, taken) if len(found) < number else None
        if best is not None:
            taken.append(best)
            found.append((section, best))
    ordered = sorted(found, key=_place_in_text)
    return [CentralSentence(one.place, one.words, section.name) for section, one in ordered]


def _most_central(section: _Section, taken: Sequence[_Sentence]) -> _Sentence | None:
    """The sentence nearest to the section's center that says nothing that was taken already."""
    new = [
        one
        for one in section.sentences
        if not any(_cosine(one.vector, other.vector) >= TOO_LIKE for other in taken)
    ]
    centrality = [one.weight * _projection(one.vector, section.center) for one in new]
    return new[centrality.index(max(centrality))] if new else None


def _size(section: _Section) -> int:
    return len(section.sentences)


def _place_in_text(found: tuple[_Section, _Sentence]) -> int:
    return found[1].at


def _sections(passages: Sequence[Document], idf: Idf | None) -> list[_Section]:
    """The document's sections with their sentences, in order; equal parts where it has none."""
    names = _names(passages)
    found: dict[str, _Section] = {}
    weights = _weights(passages, idf)
    seen: set[int] = set()
    for place, passage in enumerate(passages):
        section = found.setdefault(names[place][0], _Section(names[place][1]))
        for sentence in _sentences(place, passage, weights):
            if sentence.at not in seen:  # neighbors overlap
                seen.add(sentence.at)
                section.sentences.append(sentence)
                section.center.update(sentence.vector)
    return [section for section in found.values() if section.sentences]


def _names(passages: Sequence[Document]) -> list[tuple[str, str]]:
    """Of each passage what tells its section apart, and the section's heading."""
    paths = [tuple(passage.metadata.get("heading_path") or ()) for passage in passages]
    depth = len(shared_headings(paths)) if paths else 0
    headings = [path[depth] if len(path) > depth else "" for path in paths]
    if any(headings):
        return [(heading, heading) for heading in headings]
    parts = MAX_SENTENCES - 1
    return [(str(place * parts // len(passages)), "") for place in range(len(passages))]


def _weights(passages: Sequence[Document], idf: Idf | None) -> Mapping[str, float]:
    tokens = {token for one in passages for token in content_tokens(one.page_content)}
    return dict.fromkeys(tokens, 1.0) if idf is None else idf(sorted(tokens))


def _sentences(place: int, passage: Document, weights: Mapping[str, float]) -> Iterator[_Sentence]:
    for one in whole_sentences(passage):
        vector = {token: weights.get(token, 0.0) for token in one.tokens}
        weight = 1.0 if one.is_finished else UNFINISHED
        if any(map(str.isdigit, one.words)):
            weight *= WITH_NUMBER
        yield _Sentence(place, one.start, one.words, vector, weight)


def _cosine(one: Vector, other: Vector) -> float:
    length = math.hypot(*other.values())
    return _projection(one, other) / length if length else 0.0


def _projection(one: Vector, onto: Vector) -> float:
    """The cosine but for the length of the second vector, which is the same for all compared."""
    length = math.hypot(*one.values())
    shared = one.keys() & onto.keys()
    return math.fsum(one[token] * onto[token] for token in shared) / length if length else 0.0
