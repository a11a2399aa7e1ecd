"""The documents of the library as resources of the MCP server."""

import re
from urllib.parse import parse_qsl, urlsplit

from mcp import MCPError
from mcp_types import (
    INVALID_PARAMS,
    ListResourcesResult,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)

from api.authentication import Call
from api.mcp.mcp_tools import shared_sources
from domain import DocumentFilter, ListedDocument, public_location
from domain.errors import NotFoundError

PAGE = 100
"""The maximum number of documents per page; a cursor leads to the next page."""

SPAN_CHARS = 50_000
"""The maximum number of characters per read; a longer text ends with the address of the rest."""

_SCHEME, _HOST = "footnote", "documents"
_NUMBER = re.compile(r"[0-9]{1,9}")  # longer numbers exceed the database's integers

TEMPLATE = ResourceTemplate(
    uri_template=f"{_SCHEME}://{_HOST}/{{document_id}}{{?start,end}}",
    name="document",
    title="A document of the library",
    description="The text of a document, from the character start to before the character end. At "
    f"most {SPAN_CHARS:,} characters are returned at once, followed by the address of the rest.",
)


def listed_resources(call: Call, cursor: str | None) -> ListResourcesResult:
    """A page of the documents, by title.

    Raises:
        MCPError: The cursor did not come from the previous page.
    """
    offset = _offset(cursor)
    sources = tuple(one.source.id for one in shared_sources(call))
    page = call.services.documents.page(
        call.principal, DocumentFilter(sources=sources), limit=PAGE, offset=offset
    )
    next_offset = offset + len(page.documents)
    return ListResourcesResult(
        resources=[_resource(document) for document in page.documents],
        next_cursor=str(next_offset) if next_offset < page.total else None,
    )


def read_resource(call: Call, uri: str) -> ReadResourceResult:
    """The text at that address, followed by the address of the rest if it is cut off.

    Raises:
        MCPError: The person has no such document, or the address is not that of a document.
    """
    document_id, start, requested_end = _parse(uri)
    try:
        document = call.services.documents.get(call.principal, document_id)
        end = min(requested_end or document.characters, document.characters)
        until = min(start + SPAN_CHARS, end)
        text = call.services.reader.text(call.principal, document_id, start, until)
    except NotFoundError as error:
        raise _error(uri, str(error)) from error
    contents = [TextResourceContents(uri=uri, text=text, mime_type=_mime_type(document))]
    if until < end:
        contents.append(_rest(document, until))
    return ReadResourceResult(contents=list(contents))


def _resource(document: ListedDocument) -> Resource:
    return Resource(
        uri=address_of(document.id),
        name=document.title,
        title=document.title,
        description=f"{public_location(document.location)} ({document.characters:,} characters)",
        mime_type=_mime_type(document),
    )


def _rest(document: ListedDocument, start: int) -> TextResourceContents:
    uri = f"{address_of(document.id)}?start={start}"
    note = f"The document has {document.characters:,} characters. Continue at {uri}"
    return TextResourceContents(uri=uri, text=note, mime_type="text/plain")


def _mime_type(document: ListedDocument) -> str:
    """The type of the stored text, not of the original file."""
    return "text/markdown" if document.format == "md" else "text/plain"


def address_of(document_id: str) -> str:
    """The address of a document, as a resource."""
    return f"{_SCHEME}://{_HOST}/{document_id}"


def _parse(uri: str) -> tuple[str, int, int]:
    """The document id, the start, and the end; an end of 0 means the end of the document."""
    try:
        parts = urlsplit(uri)
    except ValueError as error:
        raise _error(uri, f"The address is invalid: {error}.") from error
    if (parts.scheme, parts.netloc) != (_SCHEME, _HOST) or not parts.path.strip("/"):
        raise _error(uri, f"Resources are documents: {TEMPLATE.uri_template}.")
    span = dict(parse_qsl(parts.query))
    start, end = (_number(uri, name, span.get(name, "0")) for name in ("start", "end"))
    return parts.path.strip("/"), start, end


def _number(uri: str, name: str, value: str) -> int:
    if not _NUMBER.fullmatch(value):
        raise _error(uri, f"{name} must be a number of characters, not {value!r}.")
    return int(value)


def _offset(cursor: str | None) -> int:
    if cursor is None:
        return 0
    if not _NUMBER.fullmatch(cursor):
        raise MCPError(
            INVALID_PARAMS, "This cursor is invalid: use the one from the previous page."
        )
    return int(cursor)


def _error(uri: str, reason: str) -> MCPError:
    return MCPError(INVALID_PARAMS, reason, {"uri": uri})
