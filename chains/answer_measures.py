"""What the best sentence found says about whether it answers the question."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from operator import mul

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings

from chains.answer_types import lacks_answer_type
from chains.follow_ups import Idf
from chains.sentence_scores import ScoredSentence, headings_above, passage_cosine
from chains.unmatched_words import unmatched_words
from language.script import is_foreign
from language.tokens import content_tokens, telling_tokens

MOST_MARGIN = 0.3
NO_RIVAL = 0.1
"""Stands for `Measures.lead` where all passages are in one script; about its mean."""
ALL_MATCHED = 0.3
"""Stands for the cosine of unmatched words where there are none; about their mean."""


@dataclass(frozen=True, slots=True)
class Measures:
    """What speaks for an answer.

    `cosine` is that of question and sentence, as it stands below its heading; `alone` the same
    without the heading, which often names what is asked about; `nearest` that of question and
    passage, `margin` by how much the nearest passage is nearer than the second, and `lead` by how
    much the nearest in the sentence's script is nearer than those in other scripts. Of the
    question's telling words, weighed by how rare they are in the library, `passage` is the part
    that the passage and its headings hold, and `sentence` the part that the sentence, the one it
    is read with and the title hold. `share` is `ScoredSentence.share`. `unmatched` is the cosine
    of the words that the passage does not hold and the sentence nearest to them; `lacking` is 1
    where the sentence has nothing of the sort that is asked for, such as a date.
    """

    cosine: float
    alone: float
    nearest: float
    margin: float
    lead: float
    passage: float
    sentence: float
    share: float
    unmatched: float
    lacking: float


def measures_of(
    question: str,
    typed: str,
    documents: Sequence[Document],
    sentences: Sequence[ScoredSentence],
    idf: Idf,
    embeddings: Embeddings | None = None,
) -> Measures:
    """The measures of the first of the sentences.

    Args:
        question: Standing alone.
        typed: As it was typed: what condensing added is no answer, though a text may repeat it.
        documents: Those the sentences were chosen from.
        sentences: Best first, those compared by their meaning with their vectors.
        idf: The library's word statistics.
        embeddings: Made the vectors; without it nothing is known of unmatched words.
    """
    best = sentences[0]
    document = documents[best.n - 1]
    weights = idf(sorted(set(telling_tokens(question))))
    title = set(content_tokens(document.metadata.get("title") or ""))
    above = set(content_tokens(headings_above(document)))
    held = above.union(content_tokens(document.page_content))
    sentence = document.page_content[best.start : best.end]
    return Measures(
        cosine=_cosine_of(question, best, embeddings),
        alone=_alone(question, sentence, embeddings),
        nearest=passage_cosine(document) or 0.0,
        margin=_margin(documents),
        lead=_lead(documents, document),
        passage=_held(weights, held),
        sentence=_held(weights, title | best.near),
        share=best.share,
        unmatched=_unmatched(unmatched_words(question, held), sentences, embeddings),
        lacking=float(lacks_answer_type(typed, sentence)),
    )


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """The cosine of the angle, 0 where a vector has no direction."""
    length = math.hypot(*one) * math.hypot(*other)
    return sum(map(mul, one, other)) / length if length else 0.0


def _cosine_of(question: str, sentence: ScoredSentence, embeddings: Embeddings | None) -> float:
    """That of the question as it was typed, or as it stands alone where it is nearer."""
    if embeddings is None or sentence.vector is None:
        return sentence.cosine or 0.0
    return max(sentence.cosine or 0.0, cosine(embeddings.embed_query(question), sentence.vector))


def _alone(question: str, sentence: str, embeddings: Embeddings | None) -> float:
    if embeddings is None:
        return 0.0
    [vector] = embeddings.embed_documents([sentence])
    return cosine(embeddings.embed_query(question), vector)


def _unmatched(
    words: str, sentences: Sequence[ScoredSentence], embeddings: Embeddings | None
) -> float:
    vectors = [one.vector for one in sentences if one.vector is not None]
    if embeddings is None or not words or not vectors:
        return ALL_MATCHED
    asked = embeddings.embed_query(words)
    return max(cosine(asked, vector) for vector in vectors)


def _held(weights: Mapping[str, float], tokens: Collection[str]) -> float:
    total = sum(weights.values())
    return sum(weights[token] for token in weights if token in tokens) / (total or 1)


def _lead(documents: Sequence[Document], chosen: Document) -> float:
    nearest: dict[bool, float] = {}
    for document in documents:
        foreign = is_foreign(document.page_content, chosen.page_content)
        nearest[foreign] = max(nearest.get(foreign, 0.0), passage_cosine(document) or 0.0)
    return nearest[False] - nearest[True] if True in nearest else NO_RIVAL


def _margin(documents: Sequence[Document]) -> float:
    known = [passage_cosine(document) for document in documents]
    cosines = sorted((one for one in known if one is not None), reverse=True)
    return min(cosines[0] - cosines[1], MOST_MARGIN) if len(cosines) > 1 else 0.0
