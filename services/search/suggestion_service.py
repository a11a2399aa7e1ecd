"""Suggests questions from the library's titles and headings."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from domain import DocumentFilter, DocumentOrder, ListedDocument, Principal
from domain.language.script import script_of
from storage.ledger.document_list_store import DocumentList, Headings
from storage.ledger.source_store import Sources

_NEWEST = 200
_READ = 24  # documents whose headings are read
_SHORTEST, _LONGEST = 2, 60
_FILE_NAME = re.compile(r"\.\w{1,5}$|^[\w.-]*[_/\\][\w./\\-]*$")
# In the language of the document, regardless of the language of the pages.
_ABOUT = {
    "latin": "What does “{title}” say about “{heading}”?",
    "korean": "‘{title}’에는 ‘{heading}’에 대해 어떻게 나와 있나요?",
    "japanese": "「{title}」には「{heading}」について何と書かれていますか？",
}
_WHOLE = {
    "latin": "What is “{title}” about?",
    "korean": "‘{title}’에는 어떤 내용이 있나요?",
    "japanese": "「{title}」には何が書かれていますか？",
}


@dataclass(frozen=True)
class SuggestionService:
    """Suggests questions to readers who do not know the library yet."""

    documents: DocumentList
    headings: Headings
    sources: Sources

    def suggest(self, principal: Principal, day: date, n: int = 4) -> list[str]:  # noqa: ARG002  # every call has one
        """At most `n` questions in the languages of their documents, the same for a whole day.

        They are about recently imported documents from as many sources and languages as possible,
        except files of conversations and places of catalogs. Titles that are file names or numbers
        are not used.
        """
        documents = _mixed(self._candidates(), day)[:_READ]
        headings = self.headings.of([one.id for one in documents])
        questions = (_question(one, headings.get(one.id, ()), day) for one in documents)
        unique = dict.fromkeys(question for question in questions if question)
        return _with_headings_first(unique)[:n]

    def _candidates(self) -> list[ListedDocument]:
        shared = tuple(
            one.id for one in self.sources.list() if not one.conversation_id and not one.is_catalog
        )
        filter_ = DocumentFilter(sources=shared)
        newest = self.documents.page(filter_, DocumentOrder.NEWEST, limit=_NEWEST)
        return [one for one in newest if _is_usable(one.title)]


def _mixed(documents: Sequence[ListedDocument], day: date) -> list[ListedDocument]:
    """The documents, shuffled daily; the first ones of each source and script come first."""
    turns: Counter[tuple[str, str]] = Counter()
    ranked = []
    for one in sorted(documents, key=lambda one: _draw(day, one.id)):
        group = (one.source_id, one.script)
        ranked.append((turns[group], one))
        turns[group] += 1
    return [one for _, one in sorted(ranked, key=lambda pair: pair[0])]


def _question(document: ListedDocument, headings: Sequence[str], day: date) -> str:
    """A question about one heading or the whole document; "" if its language has no template."""
    title = _plain(document.title)
    script = document.script or script_of(title)
    if script not in _ABOUT:
        return ""
    fit = [heading for heading in _fit(headings) if heading.casefold() != title.casefold()]
    if not fit:
        return _WHOLE[script].format(title=title)
    heading = min(fit, key=lambda heading: _draw(day, document.id + heading))
    return _ABOUT[script].format(title=title, heading=heading)


def _with_headings_first(questions: Sequence[str] | dict[str, None]) -> list[str]:
    """The questions, with those about headings before those about whole documents."""
    wholes = tuple(template.partition("{title}")[2] for template in _WHOLE.values())
    return sorted(questions, key=lambda question: question.endswith(wholes))


def _fit(headings: Sequence[str]) -> Iterator[str]:
    return (_plain(heading) for heading in headings if _is_usable(heading))


def _plain(text: str) -> str:
    """The text without quotes and Markdown, which would break the question."""
    return " ".join(re.sub(r"[*_`“”‘’「」]+", "", text).split())


def _is_usable(text: str) -> bool:
    """Whether the text consists of words rather than a file name or a number."""
    plain = _plain(text)
    if not _SHORTEST <= len(plain) <= _LONGEST or _FILE_NAME.search(text.strip()):
        return False
    return sum(map(str.isalpha, plain)) * 2 >= len(plain.replace(" ", ""))


def _draw(day: date, what: str) -> str:
    """A sort key that changes daily."""
    return hashlib.sha256(f"{day.isoformat()}\0{what}".encode()).hexdigest()
