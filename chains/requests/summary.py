"""Summarizes a document without a model, by quoting its opening and most central sentences."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle, islice
from typing import Any

from langchain_core.documents import Document
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.utils import AddableDict

from chains.citations.visible_text import escape
from chains.condensing.condense import Condenser, condense_follow_up
from chains.condensing.follow_ups import Idf
from chains.history import Inputs, last_citations
from chains.requests.built_in_answer import (
    FindsDocuments,
    Quotation,
    answer_pieces,
    first_lines,
    whole_sentences,
)
from chains.requests.request_kinds import SummaryRequest, load_phrases, summary_request
from chains.streaming_runnable import StreamingRunnable
from domain import shared_headings
from domain.language.tokens import content_tokens

MAX_SENTENCES = 6
"""The maximum number of sentences of an extract, including the opening."""
SHARE = 3
"""One in this many sentences is selected, so that extracts of short documents are shorter."""
TOO_LIKE = 0.7
"""The cosine from which two sentences count as duplicates."""
UNFINISHED = 0.7
"""The weight of a sentence without closing punctuation, such as a list item."""
WITH_NUMBER = 1.2
"""The weight of a sentence with a number, such as a rule with a limit."""

Vector = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class CentralSentence:
    """A sentence to quote from the passage at index `index`, and the section it represents.

    `section` is "" for the opening and in a document without headings.
    """

    index: int
    words: str
    section: str = ""


@dataclass(frozen=True, slots=True)
class _Sentence:
    index: int
    start: int
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

    The central sentence of a section is the one whose words have the highest cosine with those of
    the section, weighted by rarity in the library. Headings, table rows, code, questions, and
    fragments are not quoted. If the document has nothing else, its first lines are quoted.

    Args:
        passages: The passages of one document, in order.
        idf: The library's word statistics; without them, all words have the same weight.
    """
    sections = _sections(passages, idf)
    sentences = [one for section in sections for one in section.sentences]
    if not sentences:
        return [CentralSentence(*line) for line in islice(first_lines(passages), SHARE)]
    opening = sentences[0]
    number = min(MAX_SENTENCES, max(2, math.ceil(len(sentences) / SHARE))) - 1
    representatives = _representatives(sections, opening, number)
    return [CentralSentence(opening.index, opening.words), *representatives]


def _representatives(
    sections: Sequence[_Section], opening: _Sentence, number: int
) -> list[CentralSentence]:
    """The best sentence of each of the largest sections, then their second best.

    The opening counts as the best sentence of its section.
    """
    selected, pairs = [opening], list[tuple[_Section, _Sentence]]()
    first, *rest = sections
    largest = sorted(rest or [first], key=_size, reverse=True)
    for section in islice(cycle(largest), number * len(largest)):
        best = _most_central(section, selected) if len(pairs) < number else None
        if best is not None:
            selected.append(best)
            pairs.append((section, best))
    ordered = sorted(pairs, key=_start_of)
    return [CentralSentence(one.index, one.words, section.name) for section, one in ordered]


def _most_central(section: _Section, selected: Sequence[_Sentence]) -> _Sentence | None:
    """The sentence nearest to the section's center that duplicates no selected sentence."""
    new = [
        one
        for one in section.sentences
        if not any(_cosine(one.vector, other.vector) >= TOO_LIKE for other in selected)
    ]
    centrality = [one.weight * _projection(one.vector, section.center) for one in new]
    return new[centrality.index(max(centrality))] if new else None


def _size(section: _Section) -> int:
    return len(section.sentences)


def _start_of(pair: tuple[_Section, _Sentence]) -> int:
    return pair[1].start


def _sections(passages: Sequence[Document], idf: Idf | None) -> list[_Section]:
    """The document's sections with their sentences, in order; equal parts if it has no sections."""
    names = _section_keys(passages)
    sections: dict[str, _Section] = {}
    weights = _weights(passages, idf)
    starts: set[int] = set()
    for index, passage in enumerate(passages):
        section = sections.setdefault(names[index][0], _Section(names[index][1]))
        for sentence in _sentences(index, passage, weights):
            if sentence.start not in starts:  # neighbors overlap
                starts.add(sentence.start)
                section.sentences.append(sentence)
                section.center.update(sentence.vector)
    return [section for section in sections.values() if section.sentences]


def _section_keys(passages: Sequence[Document]) -> list[tuple[str, str]]:
    """The key of each passage's section, and the section's heading."""
    paths = [tuple(passage.metadata.get("heading_path") or ()) for passage in passages]
    depth = len(shared_headings(paths)) if paths else 0
    headings = [path[depth] if len(path) > depth else "" for path in paths]
    if any(headings):
        return [(heading, heading) for heading in headings]
    parts = MAX_SENTENCES - 1
    return [(str(index * parts // len(passages)), "") for index in range(len(passages))]


def _weights(passages: Sequence[Document], idf: Idf | None) -> Mapping[str, float]:
    tokens = {token for one in passages for token in content_tokens(one.page_content)}
    return dict.fromkeys(tokens, 1.0) if idf is None else idf(sorted(tokens))


def _sentences(index: int, passage: Document, weights: Mapping[str, float]) -> Iterator[_Sentence]:
    for one in whole_sentences(passage):
        vector = {token: weights.get(token, 0.0) for token in one.tokens}
        weight = 1.0 if one.is_finished else UNFINISHED
        if any(map(str.isdigit, one.words)):
            weight *= WITH_NUMBER
        yield _Sentence(index, one.start, one.words, vector, weight)


def _cosine(one: Vector, other: Vector) -> float:
    length = math.hypot(*other.values())
    return _projection(one, other) / length if length else 0.0


def _projection(one: Vector, onto: Vector) -> float:
    """The cosine times the length of `onto`, which is constant across the comparisons."""
    length = math.hypot(*one.values())
    shared = one.keys() & onto.keys()
    return math.fsum(one[token] * onto[token] for token in shared) / length if length else 0.0


@dataclass(eq=False, repr=False)
class Summarizer(StreamingRunnable[Inputs, Inputs]):
    """Answers requests for a summary with an extract of the document.

    The inputs are `question`, `chat_history`, and optionally `standalone_question`, which then
    names the document. If no document has that name, a question that may ask for something else or
    for a part ("the steps to ...") is passed to `otherwise`.
    """

    documents: FindsDocuments
    condense: Condenser
    otherwise: Runnable[Inputs, Inputs]
    idf: Idf | None = None

    def stream(
        self, input: Inputs, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[Inputs]:
        """The searched question, the quoted passages, and the extract."""
        request = summary_request(input["question"]) or SummaryRequest("", "english")
        subject = input.get("standalone_question") or request.subject
        passages = self.documents.named(subject) if subject else []
        if not passages and subject and (request.only_if_named or request.asks_for_a_part):
            yield from self.otherwise.stream(_of_the_part(input, request), config, **kwargs)
            return
        if not subject and not (passages := self._implied_document(input)):
            subject = condense_follow_up(self.condense, input, config)
        texts, introduction = load_phrases("summary"), "introduction"
        if subject and not passages:
            passages = self.documents.nearest(subject)
            introduction = "introduction_of_nearest"
        if passages:
            yield from _extract(texts[introduction][request.language], subject, passages, self.idf)
        else:
            yield from answer_pieces([texts["which"][request.language]])

    def _implied_document(self, inputs: Inputs) -> list[Document]:
        """The only document, or else the last cited one."""
        citations = last_citations(inputs.get("chat_history") or ())[:1]
        ids = [str(one.get("extras", {}).get("document_id", "")) for one in citations]
        return self.documents.only() or (self.documents.known(ids[0]) if any(ids) else [])


def _of_the_part(inputs: Inputs, request: SummaryRequest) -> Inputs:
    """The inputs without the words of the request itself, which no document contains."""
    return inputs if request.only_if_named else {**inputs, "question": request.subject}


def _extract(
    introduction: str, subject: str, passages: Sequence[Document], idf: Idf | None
) -> Iterator[Inputs]:
    title = passages[0].metadata.get("title") or ""
    yield AddableDict(searched_questions=[subject or title])
    sentences = central_sentences(passages, idf)
    indices = sorted({sentence.index for sentence in sentences})
    yield AddableDict(source_documents=[passages[index] for index in indices])
    opening = introduction.format(title=escape(title))
    yield from answer_pieces([opening, *_quotations(sentences, indices)])


def _quotations(
    sentences: Sequence[CentralSentence], indices: Sequence[int]
) -> Iterator[str | Quotation]:
    """The sentences; the first one of each section follows the section's heading."""
    section = ""
    for sentence in sentences:
        if sentence.section != section:
            section = sentence.section
            yield f"**{escape(section.strip())}**"
        yield Quotation(indices.index(sentence.index) + 1, sentence.words)
