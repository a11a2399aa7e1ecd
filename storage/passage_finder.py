"""Finds a passage again that was noted with its place and text, in an index made since."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Protocol

from sqlalchemy import select

from domain import Passage
from errors import NotFoundError
from language.normalise import fold
from storage.database import Database
from storage.documents import Documents
from storage.groups import in_groups
from storage.tables import PassageRow


class Noted(Protocol):
    """A passage as it was noted: `start` counts in the document's text of then."""

    @property
    def passage_id(self) -> str: ...  # noqa: D102
    @property
    def document_id(self) -> str: ...  # noqa: D102
    @property
    def start(self) -> int: ...  # noqa: D102
    @property
    def text(self) -> str: ...  # noqa: D102


class PassageFinder:
    """Looks in one index for passages of another index, version or library."""

    def __init__(self, database: Database, documents: Documents) -> None:
        self._database = database
        self._documents = documents

    def find(self, index_id: str, noted: Sequence[Noted]) -> dict[str, str]:
        """By noted id, the passage's id in that index; what can't be found is left out.

        It is looked for in this order:
        1. by its id;
        2. in its document, the passage with the same text, the nearest where there are several;
        3. in its document, where the text stands now, the passage that shares most of it: at
           least half of the shorter of the two;
        4. in the whole index, the passage with the same text but for white space, width and case.
        """
        found = self._by_id(index_id, {one.passage_id for one in noted})
        found |= self._by_document(index_id, _others(noted, found))
        rest = _others(noted, found)
        by_text = self.by_text(index_id, {one.text for one in rest})
        return found | {one.passage_id: by_text[one.text] for one in rest if one.text in by_text}

    def by_text(self, index_id: str, texts: Iterable[str]) -> dict[str, str]:
        """By text, the first passage that says the same but for white space, width and case."""
        wanted: dict[str, list[str]] = {}
        for text in texts:
            wanted.setdefault(_compact(text), []).append(text)
        found: dict[str, str] = {}
        for passage_id, text in self._all_texts(index_id) if wanted else ():
            for same in wanted.pop(_compact(text), ()):
                found[same] = passage_id
        return found

    def _by_id(self, index_id: str, ids: Iterable[str]) -> dict[str, str]:
        wanted = select(PassageRow.id).where(PassageRow.index_id == index_id)
        with self._database.read() as session:
            return {
                id_: id_
                for group in in_groups(list(ids))
                for id_ in session.scalars(wanted.where(PassageRow.id.in_(group)))
            }

    def _by_document(self, index_id: str, noted: Sequence[Noted]) -> dict[str, str]:
        found: dict[str, str] = {}
        of = attrgetter("document_id")
        for document_id, ones in groupby(sorted(noted, key=of), key=of):
            try:
                text = self._documents.text(document_id)
            except NotFoundError:  # the document is gone; its text may stand elsewhere
                continue
            passages = self._documents.passages(document_id, index_id)
            for one in ones:
                if same := passage_now(one.text, one.start, text, passages):
                    found[one.passage_id] = same.id
        return found

    def _all_texts(self, index_id: str) -> Iterator[tuple[str, str]]:
        wanted = (
            select(PassageRow.id, PassageRow.text)
            .where(PassageRow.index_id == index_id)
            .order_by(PassageRow.document_id, PassageRow.ordinal)
        )
        with self._database.read() as session:
            for row in session.execute(wanted.execution_options(yield_per=1000)):
                yield row.id, row.text


def passage_now(
    text: str, start: int, document_text: str, passages: Sequence[Passage]
) -> Passage | None:
    """The passage that holds a text which began at `start`; None where none holds enough of it.

    One with that very text comes first, the nearest to `start`; else the one that shares most of
    it, at least half of the shorter of the two.
    """
    same = [passage for passage in passages if passage.text == text]
    if same:
        return min(same, key=lambda passage: abs(passage.start - start))
    at = nearest_place(document_text, text, start)
    if at is None or not text or not passages:
        return None

    def shared(passage: Passage) -> int:
        return min(passage.end, at + len(text)) - max(passage.start, at)

    best = max(passages, key=shared)
    return best if 2 * shared(best) >= min(len(text), len(best.text)) else None


def nearest_place(document_text: str, text: str, start: int) -> int | None:
    """Where the text stands nearest to `start`; None where it stands nowhere."""
    before = document_text.rfind(text, 0, start + len(text))
    after = document_text.find(text, start)
    places = [place for place in (before, after) if place >= 0]
    return min(places, key=lambda place: abs(place - start), default=None)


def _others(noted: Sequence[Noted], found: dict[str, str]) -> list[Noted]:
    return [one for one in noted if one.passage_id not in found]


def _compact(text: str) -> str:
    return "".join(fold(text).split())
