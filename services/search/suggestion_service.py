"""Suggests questions that the library answers, to readers who do not know it yet."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import islice
from pathlib import Path

from domain import DocumentFilter, DocumentOrder, ListedDocument, Principal
from services.access import Access
from services.search.question_wording import Kind, Subject, Suggestion, is_name
from storage.ledger.document_list_store import DocumentList, HeadedText
from storage.ledger.restriction_store import Readers

_NEWEST = 200
_READ = 40  # documents whose passages are read
_PER_DOCUMENT = 3
_DATA = frozenset(
    {"csv", "tsv", "json", "yaml", "yml", "xml", "xlsx", "xls", "xlsb", "ods", "ipynb"}
)
"""Formats whose headings are data, such as the entries of a feed."""
_SCRIPTS = {"en": "latin", "ko": "korean", "ja": "japanese"}


@dataclass(frozen=True)
class SuggestionService:
    """Suggests questions about shared documents; `samples` is the folder of the samples."""

    documents: DocumentList
    access: Access
    samples: Path

    def suggest(
        self,
        principal: Principal,
        day: date,
        n: int = 4,
        *,
        language: str = "",
    ) -> list[str]:
        """At most `n` questions in the languages of their documents, the same for a whole day.

        Questions in `language` (`en`, `ko`, `ja`, or "" for any) come first. They are about
        recently imported documents from as many sources and languages as possible, except files of
        conversations; about the samples only if there are no others. A question that would not read
        well, or that its document does not seem to answer, is omitted.
        """
        return list(self.documents_of(principal, day, n, language=language))

    def documents_of(
        self, principal: Principal, day: date, n: int = 4, *, language: str = ""
    ) -> dict[str, str]:
        """The questions of `suggest`, in this order, with the ids of their documents."""
        script = _SCRIPTS.get(language, "")
        documents = _mix(self._candidates(principal), day, script)[:_READ]
        passages = self.documents.first_passages([one.id for one in documents])
        ranked: list[tuple[bool, bool, int, int, str, str]] = []
        for place, document in enumerate(documents):
            is_foreign = bool(script) and document.script != script
            found = _suggestions(document, passages.get(document.id, ()), day)
            for turn, (kind, question) in enumerate(found):
                ranked.append((is_foreign, kind is Kind.WHOLE, turn, place, question, document.id))
        best: dict[str, str] = {}
        for *_, question, document_id in sorted(ranked):
            best.setdefault(question, document_id)
        return dict(islice(best.items(), n))

    def _candidates(self, principal: Principal) -> list[ListedDocument]:
        readers = self.access.readers(principal)
        shared = [one for one in self.access.own_sources(principal).values() if one.is_shared]
        samples = str(self.samples.resolve())
        own = self._newest((one.id for one in shared if one.location != samples), readers)
        documents = own or self._newest((one.id for one in shared), readers)
        return [one for one in documents if one.format not in _DATA]

    def _newest(self, source_ids: Iterable[str], readers: Readers) -> list[ListedDocument]:
        filter_ = DocumentFilter(sources=tuple(source_ids), readers=readers)
        return self.documents.page(filter_, DocumentOrder.NEWEST, limit=_NEWEST)


def _mix(documents: Sequence[ListedDocument], day: date, script: str) -> list[ListedDocument]:
    """The documents, shuffled daily; first those in the script with a title that people use.

    Among these, the first ones of each source and script come first.
    """
    turns: Counter[tuple[str, str]] = Counter()
    ranked = []
    for one in sorted(documents, key=lambda one: _draw(day, one.id)):
        group = (one.source_id, one.script)
        is_other = bool(script) and one.script != script
        ranked.append((is_other, not is_name(one.title, one.script), turns[group], one))
        turns[group] += 1
    return [one for *_, one in sorted(ranked, key=lambda entry: entry[:-1])]


def _suggestions(
    document: ListedDocument, passages: Sequence[HeadedText], day: date
) -> list[Suggestion]:
    """The document's best questions, shuffled daily among those of the same kind."""
    subject = Subject(document.title, document.script, passages)
    drawn = sorted(subject.suggestions(), key=lambda one: (one.kind, _draw(day, one.question)))
    return drawn[:_PER_DOCUMENT]


def _draw(day: date, what: str) -> str:
    """A sort key that changes daily."""
    return hashlib.sha256(f"{day.isoformat()}\0{what}".encode()).hexdigest()
