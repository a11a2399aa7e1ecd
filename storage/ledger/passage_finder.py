"""Finds passages recorded in another index, version, or library by their position and text."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import groupby, pairwise
from operator import attrgetter
from typing import NamedTuple, Protocol

from sqlalchemy import func, literal, select

from domain import Filter, Passage, SharedPassage
from domain.errors import NotFoundError
from domain.language.script import fold, script_of
from storage.filters import checks_of, fields_of, matches
from storage.ledger.database import Database, Store, rows_with, scalars_with
from storage.ledger.document_store import Documents, passage_metadata
from storage.ledger.index_store import in_active_index
from storage.ledger.ledger_tables import DocumentRow, DocumentTextRow, PassageRow


class PassageList(Store):
    """The passages of one document in one index, in text order."""

    def page(
        self, document_id: str, index_id: str, *, limit: int, offset: int = 0
    ) -> list[SharedPassage]:
        """A page of passages, each with its overlap with its neighbors."""
        before = min(1, offset)
        query = (
            select(PassageRow)
            .where(PassageRow.document_id == document_id, PassageRow.index_id == index_id)
            .order_by(PassageRow.ordinal)
            .limit(before + limit + 1)
            .offset(offset - before)
        )
        passages = self._each(Passage, query)
        return shared(passages)[before : before + limit]


def shared(passages: list[Passage]) -> list[SharedPassage]:
    """Consecutive passages with the numbers of characters that they share with their neighbors."""
    overlaps = [
        max(0, min(first.end, second.end) - second.start) for first, second in pairwise(passages)
    ]
    ends = zip(passages, [0, *overlaps], [*overlaps, 0], strict=False)
    return [SharedPassage(*each) for each in ends]


class CurrentVersion(NamedTuple):
    """The current version of a document; `revision` counts its versions from 1."""

    version: str
    revision: int
    imported_at: datetime


class PassageSpan(NamedTuple):
    """The span of a passage in its document's text."""

    ordinal: int
    start: int
    end: int


class Reading(Store):
    """Reads parts of documents, because whole documents may have megabytes."""

    def versions(
        self, document_ids: Sequence[str], sources: Sequence[str]
    ) -> dict[str, CurrentVersion]:
        """The stored version by document id, for documents in these sources."""
        query = select(
            DocumentRow.id, DocumentRow.version, DocumentRow.revision, DocumentRow.imported_at
        ).where(DocumentRow.source_id.in_(sources))
        with self._database.read() as session:
            rows = rows_with(session, query, DocumentRow.id, document_ids)
            return {row.id: CurrentVersion(*row[1:]) for row in rows}

    def cut(self, document_id: str, start: int, end: int) -> str:
        """A slice of a document's text; "" beyond its end."""
        # Sliced by the database, because the whole text is not needed.
        piece = func.substr(DocumentTextRow.text, start + 1, end - start)
        query = select(piece).where(DocumentTextRow.document_id == document_id)
        with self._database.read() as session:
            return session.scalar(query) or ""

    def spans(self, document_id: str) -> list[PassageSpan]:
        """The spans of a document's passages in the active index, in text order."""
        columns = select(PassageRow.ordinal, PassageRow.start, PassageRow.end)
        own = columns.where(PassageRow.document_id == document_id)
        query = in_active_index(own).order_by(PassageRow.ordinal)
        return self._tuples(PassageSpan, query)

    def passage_ids(self, document_id: str, start: int, limit: int) -> list[str]:
        """The first `limit` passages that end after `start`, in text order."""
        own = select(PassageRow.id).where(
            PassageRow.document_id == document_id, PassageRow.end > start
        )
        return self._all(in_active_index(own).order_by(PassageRow.ordinal).limit(limit))

    def headings(self, document_id: str, ordinal: int) -> tuple[str, ...]:
        """The heading path of a passage, possibly empty."""
        paths = select(PassageRow.heading_path).where(
            PassageRow.document_id == document_id, PassageRow.ordinal == ordinal
        )
        with self._database.read() as session:
            return tuple(session.scalar(in_active_index(paths)) or ())


class LedgerFilter(Store):
    """Evaluates filters in the ledger; slower than the vector store: reads a row per passage."""

    def allowed(self, index_id: str, conditions: Filter) -> Callable[[str], bool]:
        """Return a predicate: whether an id belongs to a matching passage of the index.

        Raises:
            ValueError: The filter is invalid.
        """
        checks = checks_of(conditions)
        is_script_checked = "script" in fields_of(checks)
        text = PassageRow.text if is_script_checked else literal("")
        query = (
            select(PassageRow.id, PassageRow.page, text.label("text"), DocumentRow)
            .join(DocumentRow, DocumentRow.id == PassageRow.document_id)
            .where(PassageRow.index_id == index_id)
        )
        with self._database.read() as session:
            passing = frozenset(
                id_
                for id_, page, text, document in session.execute(query)
                if matches(checks, passage_metadata(document, page, script_of(text)))
            )
        return passing.__contains__


class PassageReference(Protocol):
    """A passage recorded earlier; `start` refers to the document's text at that time."""

    @property
    def passage_id(self) -> str: ...  # noqa: D102
    @property
    def document_id(self) -> str: ...  # noqa: D102
    @property
    def start(self) -> int: ...  # noqa: D102
    @property
    def text(self) -> str: ...  # noqa: D102


class PassageFinder(Store):
    """Finds passages of another index, version, or library in one index."""

    def __init__(self, database: Database, documents: Documents) -> None:
        super().__init__(database)
        self._documents = documents

    def find(self, index_id: str, references: Sequence[PassageReference]) -> dict[str, str]:
        """Map each recorded id to a passage id in this index; passages not found are omitted.

        Tries in this order:
        1. the same id;
        2. the nearest passage in the same document with the same text;
        3. the passage in the same document with the largest overlap with the text's current
           position, if it is at least half of the shorter span;
        4. a passage anywhere in the index with the same text, ignoring white space, width, and
           case.
        """
        matches = self._by_id(index_id, {one.passage_id for one in references})
        matches |= self._by_document(index_id, _others(references, matches))
        rest = _others(references, matches)
        by_text = self.by_text(index_id, {one.text for one in rest})
        return matches | {one.passage_id: by_text[one.text] for one in rest if one.text in by_text}

    def by_text(self, index_id: str, texts: Iterable[str]) -> dict[str, str]:
        """Map each text to the first passage with it, ignoring white space, width, and case."""
        pending: dict[str, list[str]] = {}
        for text in texts:
            pending.setdefault(_compact(text), []).append(text)
        matches: dict[str, str] = {}
        for passage_id, text in self._all_texts(index_id) if pending else ():
            for same in pending.pop(_compact(text), ()):
                matches[same] = passage_id
        return matches

    def _by_id(self, index_id: str, ids: Iterable[str]) -> dict[str, str]:
        query = select(PassageRow.id).where(PassageRow.index_id == index_id)
        with self._database.read() as session:
            return {id_: id_ for id_ in scalars_with(session, query, PassageRow.id, list(ids))}

    def _by_document(self, index_id: str, references: Sequence[PassageReference]) -> dict[str, str]:
        matches: dict[str, str] = {}
        of = attrgetter("document_id")
        for document_id, ones in groupby(sorted(references, key=of), key=of):
            try:
                text = self._documents.text(document_id)
            except NotFoundError:  # the document was removed; another one may have its text
                continue
            passages = self._documents.passages(document_id, index_id)
            for one in ones:
                if same := matching_passage(one.text, one.start, text, passages):
                    matches[one.passage_id] = same.id
        return matches

    def _all_texts(self, index_id: str) -> Iterator[tuple[str, str]]:
        query = (
            select(PassageRow.id, PassageRow.text)
            .where(PassageRow.index_id == index_id)
            .order_by(PassageRow.document_id, PassageRow.ordinal)
        )
        with self._database.read() as session:
            for row in session.execute(query.execution_options(yield_per=1000)):
                yield row.id, row.text


def matching_passage(
    text: str, start: int, document_text: str, passages: Sequence[Passage]
) -> Passage | None:
    """The passage that corresponds to a text that started at `start`, if any.

    This is the nearest passage with exactly this text, or else the passage with the largest
    overlap, if that is at least half of the shorter span.
    """
    same = [passage for passage in passages if passage.text == text]
    if same:
        return min(same, key=lambda passage: abs(passage.start - start))
    at = nearest_position(document_text, text, start)
    if at is None or not text or not passages:
        return None

    def shared(passage: Passage) -> int:
        return min(passage.end, at + len(text)) - max(passage.start, at)

    best = max(passages, key=shared)
    return best if 2 * shared(best) >= min(len(text), len(best.text)) else None


def nearest_position(document_text: str, text: str, start: int) -> int | None:
    """The position of the text nearest to `start`; None if it does not occur."""
    before = document_text.rfind(text, 0, start + len(text))
    after = document_text.find(text, start)
    positions = [position for position in (before, after) if position >= 0]
    return min(positions, key=lambda position: abs(position - start), default=None)


def _others(
    references: Sequence[PassageReference], matches: dict[str, str]
) -> list[PassageReference]:
    return [one for one in references if one.passage_id not in matches]


def _compact(text: str) -> str:
    return "".join(fold(text).split())
