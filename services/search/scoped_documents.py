"""The documents in the scope of a question."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from pathlib import PurePosixPath

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from chains.extractive.answer_decision import cosine
from domain import Filter, Principal, SearchChoice
from domain.language.tokens import content_tokens
from services.search.search_scope import searchable
from services.search.search_service import SearchService
from storage.ledger.database import in_groups
from storage.ledger.document_list_store import DocumentTitle, Titles

MIN_NAME_F1 = 0.6
"""The minimum F1 score, by tokens, of a name and a matching title."""
MAX_PASSAGES = 200
"""The maximum number of passages read per document, spread evenly."""
RETRIEVED_PASSAGES = 20
"""The number of passages retrieved to compare documents."""
NEAREST_PASSAGES = 100
"""The search depth for finding a document; large, because searches favor the text's language."""
COMPARED_TITLES = 30
"""The number of document titles compared with the text."""

_WORD_GAP = re.compile(r"[_\-/\\]+")


@dataclass(frozen=True)
class ScopedDocuments:
    """The documents in the scope of one question, including the files of its conversation."""

    search: SearchService
    titles: Titles
    principal: Principal
    choice: SearchChoice
    conversation_id: str = ""

    def count(self) -> int:
        """The number of documents."""
        return sum(1 for _ in self._in_scope(self.titles.all()))

    def named(self, name: str) -> list[Document]:
        """The passages of the document with this name, or an empty list.

        The name may be the title, or the file name with or without its folder. Among equally
        similar names, the first by title and key is used.
        """
        tokens = frozenset(content_tokens(name))
        scored = ((_likeness(tokens, title), title) for title in self.titles.all())
        matches = [pair for pair in scored if pair[0] >= MIN_NAME_F1]
        ordered = [title for _, title in sorted(matches, key=itemgetter(0), reverse=True)]
        best = next(self._in_scope(ordered), None)
        return self._passages(best.id) if best else []

    def nearest(self, text: str) -> list[Document]:
        """The passages of the document whose title is nearest in meaning, or an empty list.

        Only documents that a search for the text retrieves are compared. Titles represent a whole
        document better than passages do, even across languages.
        """
        passages = self.retriever(NEAREST_PASSAGES).invoke(text)
        titles = {one.metadata["document_id"]: one.metadata["title"] for one in passages}
        ids = list(titles)[:COMPARED_TITLES]
        if not ids:
            return []
        likeness = self._likeness_in_meaning(text, [titles[id_] for id_ in ids])
        return self._passages(ids[likeness.index(max(likeness))])

    def _likeness_in_meaning(self, text: str, titles: Sequence[str]) -> list[float]:
        """The cosine of each title and the text; 0 for languages unknown to the embedding."""
        index = self.search.library.open_index()
        if index is None:
            return [0.0] * len(titles)
        embeddings = index.passages.embeddings
        vector = embeddings.embed_query(text)
        return [cosine(vector, other) for other in embeddings.embed_documents(list(titles))]

    def known(self, document_id: str) -> list[Document]:
        """The passages of the document with this id; empty if it was removed or is out of scope."""
        titles = [one for one in self.titles.all() if one.id == document_id]
        return self._passages(document_id) if any(self._in_scope(titles)) else []

    def only(self) -> list[Document]:
        """The passages of the conversation's only file, or else of the only document.

        Empty if there are several.
        """
        titles = self.titles.all()
        conversation_files = [one for one in titles if one.source_id in self._own_boxes]
        candidates = conversation_files or list(self._in_scope(titles))
        return self._passages(candidates[0].id) if len(candidates) == 1 else []

    def retriever(self, k: int = RETRIEVED_PASSAGES) -> BaseRetriever:
        """Retrieves `k` passages in scope, by default enough to compare documents."""
        return self.search.retriever(
            self.principal,
            mode=self.choice.mode,
            k=k,
            condition=self.scope,
            rerank=False,
            score_threshold=self.choice.score_threshold,
            conversation_id=self.conversation_id,
        )

    def respell(self, question: str) -> str:
        """The question as `SearchService.respell` corrects it within the scope."""
        return self.search.respell(self.principal, question, self.scope, self.conversation_id)

    def _passages(self, document_id: str) -> list[Document]:
        ids = self.titles.passage_ids(document_id)
        return self.search.passages(self.principal).hydrate(_spread(ids, MAX_PASSAGES))

    def _in_scope(self, titles: Sequence[DocumentTitle]) -> Iterator[DocumentTitle]:
        """The titles in scope, in order, checked lazily."""
        if not self._condition:
            yield from titles
            return
        for group in in_groups(titles):
            ids = self.titles.matching([one.id for one in group], self._condition)
            yield from (one for one in group if one.id in ids)

    @cached_property
    def scope(self) -> Filter:
        """The condition of the scope; see `SearchService.condition` for errors."""
        return self.search.condition(self.principal, self.choice.scope)

    @cached_property
    def _condition(self) -> Filter:
        readable = self.search.library.access.readable(self.principal)
        return searchable(self.scope, readable, self.conversation_id)

    @cached_property
    def _own_boxes(self) -> frozenset[str]:
        if not self.conversation_id:
            return frozenset()
        own = self.search.library.access.own_sources(self.principal).values()
        return frozenset(one.id for one in own if one.conversation_id == self.conversation_id)


def _likeness(tokens: frozenset[str], document: DocumentTitle) -> float:
    if tokens.isdisjoint(_tokens(f"{document.title} {document.key}")):
        return 0.0  # the common case; the rest takes five times as long
    path = PurePosixPath(document.key)
    names = (document.title, path.stem, path.name, document.key, f"{path.parent} {document.title}")
    return max(_f1(tokens, frozenset(_tokens(name))) for name in names)


def _tokens(name: str) -> Iterable[str]:
    return content_tokens(_WORD_GAP.sub(" ", name))


def _f1(one: frozenset[str], other: frozenset[str]) -> float:
    return 2 * len(one & other) / (len(one) + len(other)) if one and other else 0.0


def _spread(ids: Sequence[str], limit: int) -> list[str]:
    """At most `limit` of the ids, evenly spaced, including the first."""
    if len(ids) <= limit:
        return list(ids)
    return [ids[index * len(ids) // limit] for index in range(limit)]
