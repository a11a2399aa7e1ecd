"""A generated library of many documents and conversations, written directly to the ledger.

Nothing is embedded: pages are opened over it, but no question is asked.
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

from domain import LOCAL_USER, ImportState, Outcome, RetrievedPassage, TurnState
from storage.ledger.database import Database

SOURCES = 20
PASSAGES = 10
TURNS = 3
NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
KINDS = (("md", "latin", "leave policy"), ("pdf", "korean", "연차 휴가 규정"))
KINDS += (("docx", "japanese", "年次休暇規程"), ("txt", "latin", "gateway manual"))
SENTENCE = "What the {title} of team {n} says about part {part} is kept in this sentence. "


def fill(data_dir: str, documents: int, conversations: int) -> dict[str, str]:
    """Write documents and conversations; returns the ids of one document and one conversation."""
    from sqlalchemy import insert

    from storage.ledger.database import open_database

    database = open_database(Path(data_dir))
    index_id = _add_index(database, Path(data_dir))
    sources = _add_sources(database)
    rows = [
        *_documents(sources, index_id, documents),
        *_imports(sources, documents),
        *_conversations(conversations),
    ]
    for table, table_rows in rows:
        for group in _groups(table_rows):
            with database.write() as session:
                session.execute(insert(table), group)
    database.close()
    return {kind: _id(kind, 0) for kind in ("document", "conversation")}


def _groups(rows: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    iterator = iter(rows)
    while group := list(islice(iterator, 5000)):
        yield group


def _add_index(database: Database, data_dir: Path) -> str:
    from loaders.split import SPLITTER_VERSION
    from models.embedding_choice import EmbeddingSpec, fingerprint
    from storage.index_stores import IndexStores
    from storage.ledger.index_store import Indexes, IndexSpec, IndexState, new_index

    spec = EmbeddingSpec()
    target = IndexSpec(spec.stored(), fingerprint(spec), SPLITTER_VERSION, 1000, 150)
    index = new_index(target, IndexState.ACTIVE)
    IndexStores(data_dir, _no_model).create(index)
    Indexes(database).add(index)
    return index.id


def _no_model(_spec: object) -> Any:
    raise NotImplementedError("nothing is embedded here")


def _add_sources(database: Database) -> list[str]:
    from storage.ledger.source_store import Sources

    store = Sources(database)
    return [store.ensure("directory", f"/wiki/{n}", name=f"Team {n}").id for n in range(SOURCES)]


Rows = tuple[Any, Iterable[dict[str, Any]]]


def _documents(sources: list[str], index_id: str, count: int) -> list[Rows]:
    from storage.ledger.ledger_tables import DocumentRow, DocumentTextRow, PassageRow

    texts = ({"document_id": _id("document", n), "text": "".join(_parts(n))} for n in range(count))
    passages = (
        passage for n in range(count) for passage in _passages(_id("document", n), index_id, n)
    )
    rows = (_document(n, sources[n % SOURCES]) for n in range(count))
    return [(DocumentRow, rows), (DocumentTextRow, texts), (PassageRow, passages)]


def _document(n: int, source_id: str) -> dict[str, Any]:
    format_, script, title = KINDS[n % len(KINDS)]
    text = "".join(_parts(n))
    return {
        "id": _id("document", n),
        "source_id": source_id,
        "key": f"space-{n % 100}/{n:06}.{format_}",
        "version": "1",
        "formats_version": 1,
        "title": f"{title.capitalize()} {n}",
        "location": f"/wiki/space-{n % 100}/{n:06}.{format_}",
        "format": format_,
        "encoding": None if format_ in ("pdf", "docx") else "utf-8",
        "pages": [[0, 1], [len(text) // 2, 2]] if format_ == "pdf" else [],
        "warnings": ["probably a scan"] if n % 200 == 1 else [],
        "details": {"collection": f"Team {n % SOURCES}", "labels": []},
        "imported_at": NOW - timedelta(minutes=n),
        "revision": 1 + n % 3,
        "characters": len(text),
        "script": script,
        "passages": PASSAGES,
        "longest_passage": max(map(len, _parts(n))),
    }


def _parts(n: int) -> list[str]:
    title = KINDS[n % len(KINDS)][2]
    return [SENTENCE.format(title=title, n=n, part=part) * 4 for part in range(PASSAGES)]


def _passages(document_id: str, index_id: str, n: int) -> Iterator[dict[str, Any]]:
    start = 0
    for ordinal, text in enumerate(_parts(n)):
        yield {
            "index_id": index_id,
            "id": _id(document_id, ordinal),
            "document_id": document_id,
            "ordinal": ordinal,
            "start": start,
            "end": start + len(text),
            "page": None,
            "heading_path": ["Handbook", f"Part {ordinal}"],
            "text": text,
        }
        start += len(text)


def _imports(sources: list[str], documents: int) -> list[Rows]:
    from storage.ledger.ledger_tables import FailureRow, ImportItemRow, ImportRow

    plain = {"user_id": LOCAL_USER.user_id, "message": "", "passages_embedded": 0, "seconds": 60.0}
    imports = [
        {
            "id": _id("import", n),
            "source_id": source_id,
            "state": ImportState.COMPLETED,
            "started_at": NOW - timedelta(days=n),
            "finished_at": NOW - timedelta(days=n),
            "counts": {Outcome.NEW: documents // SOURCES},
            **plain,
        }
        for n, source_id in enumerate(sources)
    ]
    items = (
        {"import_id": _id("import", n % SOURCES), "key": f"{n:06}", "location": "", "reason": ""}
        | {"outcome": Outcome.NEW, "passages": PASSAGES}
        for n in range(documents)
    )
    failures = (
        {"source_id": sources[n % SOURCES], "key": f"broken-{n}.pdf", "version": "1"}
        | {"formats_version": 1, "reason": "0 characters: probably a scan", "failed_at": NOW}
        for n in range(documents // 100)
    )
    return [(ImportRow, imports), (ImportItemRow, items), (FailureRow, failures)]


def _conversations(count: int) -> list[Rows]:
    from storage.ledger.ledger_tables import ConversationRow, ConversationTextRow, TurnRow

    conversations = (
        {
            "id": _id("conversation", n),
            "user_id": LOCAL_USER.user_id,
            "title": _title(n),
            "created_at": NOW - timedelta(hours=n),
            "updated_at": NOW - timedelta(hours=n),
            "shown_turn_id": _id(f"turn {TURNS - 1}", n),
        }
        for n in range(count)
    )
    turns = (_turn(n, position) for n in range(count) for position in range(TURNS))
    texts = (text for n in range(count) for text in _texts(n))
    return [(ConversationRow, conversations), (TurnRow, turns), (ConversationTextRow, texts)]


def _title(n: int) -> str:
    return f"What does the {KINDS[n % len(KINDS)][2]} of team {n} say?"


def _texts(n: int) -> Iterator[dict[str, Any]]:
    """The title and the turns of conversation `n` as words are searched in them."""
    turns = [_turn(n, position) for position in range(TURNS)]
    texts = [
        ("", _title(n)),
        *((one["id"], f"{one['question']}\n{one['answer']}") for one in turns),
    ]
    for turn_id, text in texts:
        yield {
            "conversation_id": _id("conversation", n),
            "turn_id": turn_id,
            "text": text.casefold(),
        }


def _turn(n: int, position: int) -> dict[str, Any]:
    return {
        "id": _id(f"turn {position}", n),
        "conversation_id": _id("conversation", n),
        "position": position,
        "process": "",
        "question": f"What does part {position} say?",
        "state": TurnState.COMPLETE,
        "created_at": NOW - timedelta(hours=n),
        "standalone_question": f"What does part {position} of manual {n} say?",
        "answer": "It says what is kept in the sentence [1]. " * 6,
        "error": "",
        "model": "built-in",
        "sources": [asdict(_source(number)) for number in range(1, 6)],
        "citations": [],
        "unsupported_sentences": 0,
        "timings_ms": {"total": 900.0},
        "usage": {},
        "parent_id": _id(f"turn {position - 1}", n) if position else None,
    }


def _source(number: int) -> RetrievedPassage:
    document_id, text = _id("document", number), _parts(number)[0]
    title, key = f"Document {number}", f"/wiki/{number}.md"
    return RetrievedPassage(number, _id(document_id, 0), document_id, title, key, text, version="1")


def _id(kind: str, n: int) -> str:
    return hashlib.sha256(f"{kind} {n}".encode()).hexdigest()[:32]
