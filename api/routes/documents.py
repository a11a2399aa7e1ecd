"""The library and its documents: listed, read, taken out, imported again."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Query

from api.access import Manager, OpenServices, Reader
from api.paging import FIRST, Limit, Offset
from api.problems import problem_responses
from api.routes.ids import DocumentId
from api.schemas.documents import (
    Document,
    DocumentPage,
    DocumentPassage,
    Documents,
    DocumentText,
    PassagePage,
)
from api.schemas.imports import Import, told
from api.schemas.library import Library, LibrarySource, Narrowing
from domain import QueuedImport
from errors import NotFoundError

router = APIRouter(tags=["documents"])
ONE = problem_responses(404)
Place = Annotated[int, Query(ge=0, le=2**31, description="In characters of the text, from 0")]
End = Annotated[int | None, Query(ge=0, le=2**31, description="Up to its end if not told")]


@router.get("/library")
def read_library(services: OpenServices, principal: Reader) -> Library:
    """Read what the library holds, and what a search can be narrowed to."""
    status, contents = services.library.status(principal), services.documents.contents(principal)
    return Library(
        documents=status.documents,
        passages=status.passages,
        notices=list(status.notices),
        has_worker=services.queue.expects_worker(),
        sources=[LibrarySource.model_validate(one) for one in contents.sources],
        formats=dict(contents.formats),
        scripts=dict(contents.scripts),
        narrowing=Narrowing.model_validate(services.choices.choices(principal)),
    )


@router.get("/documents")
def list_documents(services: OpenServices, principal: Reader, wanted: Documents) -> DocumentPage:
    """List the documents that match."""
    page = services.documents.page(
        principal, wanted.filter, wanted.order, limit=wanted.limit, offset=wanted.offset
    )
    items = [Document.model_validate(one) for one in page.documents]
    return DocumentPage(items=items, total=page.total)


@router.get("/documents/{document_id}", responses=ONE)
def read_document(services: OpenServices, principal: Reader, document_id: DocumentId) -> Document:
    """Read what is known of a document; its text is read by itself."""
    return Document.model_validate(services.documents.get(principal, document_id))


@router.get("/documents/{document_id}/text", responses=ONE)
def read_text(
    services: OpenServices,
    principal: Reader,
    document_id: DocumentId,
    start: Place = 0,
    end: End = None,
) -> DocumentText:
    """Read a document's text, or a span of it; what lies behind its end is left out."""
    document = services.documents.get(principal, document_id)
    text = services.reader.text(principal, document_id, start, end)
    return DocumentText(
        document_id=document.id,
        start=start,
        end=start + len(text),
        characters=document.characters,
        text=text,
    )


@router.get("/documents/{document_id}/passages", responses=ONE)
def list_passages(
    services: OpenServices,
    principal: Reader,
    document_id: DocumentId,
    limit: Limit = FIRST,
    offset: Offset = 0,
) -> PassagePage:
    """List a document's passages as they are searched now, in the order of its text."""
    total = services.documents.get(principal, document_id).passages
    found = services.documents.passages(principal, document_id, limit=limit, offset=offset)
    return PassagePage(items=[DocumentPassage.of(one) for one in found], total=total)


@router.post("/documents/{document_id}/import", status_code=202, responses=ONE)
def import_document(services: OpenServices, principal: Manager, document_id: DocumentId) -> Import:
    """Have a document read again, changed or not."""
    return _only(services.documents.reimport(principal, [document_id]))


@router.delete("/documents/{document_id}", status_code=202, responses=ONE)
def delete_document(services: OpenServices, principal: Manager, document_id: DocumentId) -> Import:
    """Take a document out of the library.

    An uploaded file is deleted. Elsewhere nothing is touched: the source leaves the document out
    of its imports until it is taken back.
    """
    return _only(services.documents.remove(principal, [document_id]))


def _only(jobs: Sequence[QueuedImport]) -> Import:
    if not jobs:
        raise NotFoundError("There is no such document (any more): look for it by its title.")
    return told(jobs[0])
