"""Passages widened by their neighbours in the document, as exact stretches of its text."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row, Select, and_, func, select
from sqlalchemy.orm import Session, aliased

from domain import Passage, shared_headings
from storage.groups import in_groups
from storage.tables import DocumentTextRow, PassageRow


def read_windows(session: Session, passage_ids: Sequence[str], n: int) -> dict[str, Passage]:
    """By id, each passage widened by up to `n` before it and `n` after it in its document.

    `text` is the document's from the first one's start to the last one's end; `ordinal` and
    `page` are the first one's, `heading_path` is what all of them share. Unknown ids are left
    out.
    """
    around: defaultdict[str, list[Row[Any]]] = defaultdict(list)
    for group in in_groups(passage_ids):
        for row in session.execute(_neighbours(group, n)):
            around[row.hit].append(row)
    return {hit: _window(session, hit, rows) for hit, rows in around.items()}


def _neighbours(passage_ids: Sequence[str], n: int) -> Select[Any]:
    """The places of the passages around each: their texts repeat each other, and lack gaps."""
    hit = aliased(PassageRow)
    near = and_(
        PassageRow.document_id == hit.document_id,
        PassageRow.index_id == hit.index_id,
        PassageRow.ordinal.between(hit.ordinal - n, hit.ordinal + n),
    )
    return (
        select(
            hit.id.label("hit"),
            PassageRow.document_id,
            PassageRow.ordinal,
            PassageRow.start,
            PassageRow.end,
            PassageRow.page,
            PassageRow.heading_path,
        )
        .join(hit, near)
        .where(hit.id.in_(passage_ids))
        .order_by(PassageRow.ordinal)
    )


def _window(session: Session, hit: str, around: Sequence[Row[Any]]) -> Passage:
    first, end = around[0], max(row.end for row in around)
    # Cut by the database: a document may have megabytes.
    piece = func.substr(DocumentTextRow.text, first.start + 1, end - first.start)
    text = session.scalars(
        select(piece).where(DocumentTextRow.document_id == first.document_id)
    ).one()
    return Passage(
        id=hit,
        document_id=first.document_id,
        ordinal=first.ordinal,
        start=first.start,
        end=end,
        text=text,
        heading_path=shared_headings([row.heading_path for row in around]),
        page=first.page,
    )
