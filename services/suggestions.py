"""First questions, made from the library's own titles and headings."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from domain import DocumentFilter, DocumentOrder, ListedDocument, Principal
from language.script import script_of
from storage.document_list import DocumentList
from storage.headings import Headings
from storage.sources import Sources

_NEWEST = 200
_READ = 24  # documents of which headings are read
_SHORTEST, _LONGEST = 2, 60
_FILE_NAME = re.compile(r"\.\w{1,5}$|^[\w.-]*[_/\\][\w./\\-]*$")
# In the language of the document, whatever language the pages are in.
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
    """Suggests what to ask a library that one does not know yet."""

    documents: DocumentList
    headings: Headings
    sources: Sources

    def suggest(self, principal: Principal, day: date, n: int = 4) -> list[str]:  # noqa: ARG002  # every call names who asks
        """At most `n` questions in the languages of their documents, the same for a whole day.

        They are about documents imported lately, of as many sources and languages as there are;
        a name of a file or a number makes none, and neither do files of a conversation.
        """
        found = _mixed(self._candidates(), day)[:_READ]
        headings = self.headings.of([one.id for one in found])
        questions = (_question(one, headings.get(one.id, ()), day) for one in found)
        asked = dict.fromkeys(question for question in questions if question)
        return _with_headings_first(asked)[:n]

    def _candidates(self) -> list[ListedDocument]:
        shared = tuple(one.id for one in self.sources.list() if not one.conversation_id)
        wanted = DocumentFilter(sources=shared)
        newest = self.documents.page(wanted, DocumentOrder.NEWEST, limit=_NEWEST)
        return [one for one in newest if _is_telling(one.title)]


def _mixed(documents: Sequence[ListedDocument], day: date) -> list[ListedDocument]:
    """In the order of the day, the first ones of each source and script before all second ones."""
    turns: Counter[tuple[str, str]] = Counter()
    placed = []
    for one in sorted(documents, key=lambda one: _draw(day, one.id)):
        group = (one.source_id, one.script)
        placed.append((turns[group], one))
        turns[group] += 1
    return [one for _, one in sorted(placed, key=lambda place: place[0])]


def _question(document: ListedDocument, headings: Sequence[str], day: date) -> str:
    """About one heading of the document, or the whole; "" in a language without a template."""
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
    """What asks for one thing before what asks for a whole document."""
    wholes = tuple(template.partition("{title}")[2] for template in _WHOLE.values())
    return sorted(questions, key=lambda question: question.endswith(wholes))


def _fit(headings: Sequence[str]) -> Iterator[str]:
    return (_plain(heading) for heading in headings if _is_telling(heading))


def _plain(text: str) -> str:
    """Without the quotes and Markdown that would break the question."""
    return " ".join(re.sub(r"[*_`“”‘’「」]+", "", text).split())


def _is_telling(text: str) -> bool:
    """Whether it is words, and neither the name of a file nor a number."""
    plain = _plain(text)
    if not _SHORTEST <= len(plain) <= _LONGEST or _FILE_NAME.search(text.strip()):
        return False
    return sum(map(str.isalpha, plain)) * 2 >= len(plain.replace(" ", ""))


def _draw(day: date, what: str) -> str:
    """A lot that is another one each day."""
    return hashlib.sha256(f"{day.isoformat()}\0{what}".encode()).hexdigest()
