"""The documents that a question may look into: counted, found by name, and read whole."""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import mul
from pathlib import PurePosixPath

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from domain import Filter, Principal, SearchChoice
from language.tokens import content_tokens
from services.scope import searchable
from services.search import SearchService
from storage.groups import in_groups
from storage.titles import DocumentTitle, Titles

NAMED_LIKE = 0.6
"""How much of a name and a title must be shared for one to mean the other (F1 of their tokens)."""
MAX_PASSAGES = 200
"""Of a longer document so many passages are read, spread evenly over it."""
FOUND_PASSAGES = 20
"""How many passages are found to tell documents apart."""
NEAREST_PASSAGES = 100
"""How deep is searched for the document that a text means; a search prefers its own language."""
COMPARED_TITLES = 30
"""How many titles of documents found are compared with the text."""

_WORD_GAP = re.compile(r"[_\-/\\]+")


@dataclass(frozen=True)
class ScopedDocuments:
    """The documents in the scope of one question, those of its conversation among them."""

    search: SearchService
    titles: Titles
    principal: Principal
    choice: SearchChoice
    conversation_id: str = ""

    def count(self) -> int:
        """How many there are."""
        return sum(1 for _ in self._in_scope(self.titles.all()))

    def named(self, name: str) -> list[Document]:
        """The passages of the document that is called so; empty where none is.

        A document is called by its title, or by its file's name with or without its folder. Of
        several names that fit alike the first by title and key counts.
        """
        tokens = frozenset(content_tokens(name))
        scored = ((_likeness(tokens, title), title) for title in self.titles.all())
        near = [pair for pair in scored if pair[0] >= NAMED_LIKE]
        ordered = [title for _, title in sorted(near, key=_by_likeness)]
        best = next(self._in_scope(ordered), None)
        return self._passages(best.id) if best else []

    def nearest(self, text: str) -> list[Document]:
        """The passages of the document whose title is nearest in meaning; none if none is found.

        Only documents that a search for the text finds are compared. Titles tell better than
        passages what a document as a whole is about, and across languages.
        """
        found = self.retriever(NEAREST_PASSAGES).invoke(text)
        titles = {one.metadata["document_id"]: one.metadata["title"] for one in found}
        ids = list(titles)[:COMPARED_TITLES]
        if not ids:
            return []
        likeness = self._likeness_in_meaning(text, [titles[id_] for id_ in ids])
        return self._passages(ids[likeness.index(max(likeness))])

    def _likeness_in_meaning(self, text: str, titles: Sequence[str]) -> list[float]:
        """The cosine of each title with the text; 0 in a language the embedding does not know."""
        index = self.search.library.open_index()
        if index is None:
            return [0.0] * len(titles)
        embeddings = index.passages.embeddings
        vector = embeddings.embed_query(text)
        return [_cosine(vector, other) for other in embeddings.embed_documents(list(titles))]

    def known(self, document_id: str) -> list[Document]:
        """The passages of the document with that id; empty where it is gone or out of scope."""
        found = [one for one in self.titles.all() if one.id == document_id]
        return self._passages(document_id) if any(self._in_scope(found)) else []

    def only(self) -> list[Document]:
        """The passages of the one file of the conversation, else of the one document there is.

        Empty where there are several: which one is meant can't be known.
        """
        listed = self.titles.all()
        own = [one for one in listed if one.source_id in self._own_boxes]
        there = own or list(self._in_scope(listed))
        return self._passages(there[0].id) if len(there) == 1 else []

    def retriever(self, k: int = FOUND_PASSAGES) -> BaseRetriever:
        """Finds `k` passages in scope, by default enough to tell documents apart."""
        return self.search.retriever(
            self.principal,
            mode=self.choice.mode,
            k=k,
            condition=self._scope,
            rerank=False,
            score_threshold=self.choice.score_threshold,
            conversation_id=self.conversation_id,
        )

    def _passages(self, document_id: str) -> list[Document]:
        ids = self.titles.passage_ids(document_id)
        return self.search.documents.hydrate(_spread(ids, MAX_PASSAGES))

    def _in_scope(self, titles: Sequence[DocumentTitle]) -> Iterator[DocumentTitle]:
        """Those in scope, in their order; no more are looked up than are taken."""
        if not self._condition:
            yield from titles
            return
        for group in in_groups(titles):
            passing = self.titles.matching([one.id for one in group], self._condition)
            yield from (one for one in group if one.id in passing)

    @cached_property
    def _scope(self) -> Filter:
        return self.search.condition(self.principal, self.choice.scope)

    @cached_property
    def _condition(self) -> Filter:
        sources = self.search.library.sources.list()
        return searchable(self._scope, sources, self.conversation_id)

    @cached_property
    def _own_boxes(self) -> frozenset[str]:
        sources = self.search.library.sources.list() if self.conversation_id else ()
        return frozenset(one.id for one in sources if one.conversation_id == self.conversation_id)


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    length = math.hypot(*one) * math.hypot(*other)
    return math.fsum(map(mul, one, other)) / length if length else 0.0


def _by_likeness(pair: tuple[float, DocumentTitle]) -> float:
    return -pair[0]


def _likeness(tokens: frozenset[str], document: DocumentTitle) -> float:
    if tokens.isdisjoint(_tokens(f"{document.title} {document.key}")):
        return 0.0  # as most are: the rest would take five times as long
    path = PurePosixPath(document.key)
    names = (document.title, path.stem, path.name, document.key, f"{path.parent} {document.title}")
    return max(_f1(tokens, frozenset(_tokens(name))) for name in names)


def _tokens(name: str) -> Iterable[str]:
    return content_tokens(_WORD_GAP.sub(" ", name))


def _f1(one: frozenset[str], other: frozenset[str]) -> float:
    return 2 * len(one & other) / (len(one) + len(other)) if one and other else 0.0


def _spread(ids: Sequence[str], limit: int) -> list[str]:
    """At most `limit` of the ids, at even distances, the first among them."""
    if len(ids) <= limit:
        return list(ids)
    return [ids[place * len(ids) // limit] for place in range(limit)]
