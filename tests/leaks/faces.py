"""The faces of the library: each function asks one thing and returns everything that it shows."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import date

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine, event

from domain import DocumentFilter, Principal, SearchMode
from domain.errors import AppError, ForbiddenError, NotFoundError
from services.agent.agent_tools import document_tools
from services.export.transcripts import TranscriptFormat
from tests.leaks.page_faces import (
    ask_on_a_page,
    call_mcp,
    open_link,
    open_pages,
    view_library,
)
from tests.leaks.world import SecretDocument, World, question

NOWHERE = "0" * 32


def search(world: World, principal: Principal) -> str:
    mode = world.random.choice([*SearchMode])
    return repr(world.services.search.search(principal, question(world), mode=mode, k=20))


def compare_modes(world: World, principal: Principal) -> str:
    return repr(world.services.lab.compare(principal, question(world), [*SearchMode], 10))


def correct_spelling(world: World, principal: Principal) -> str:
    return world.services.search.respell(principal, question(world))


def ask(world: World, principal: Principal) -> str:
    """An answer, and what explains it if there is none."""
    turn = world.services.chat.ask(principal, question(world))
    return repr((turn, world.services.relevance.nothing_found(principal, turn)))


def converse(world: World, principal: Principal) -> str:
    """A conversation whose permissions change after the first answer: its history, and exports.

    Words of hidden documents don't find it.
    """
    chat, conversations = world.services.chat, world.services.conversations
    first = chat.ask(principal, question(world))
    world.change_permissions()
    chat.ask(principal, "And who else?", first.conversation_id)
    exports = [
        conversations.export(principal, first.conversation_id, one).decode()
        for one in TranscriptFormat
    ]
    turns = world.services.turns.list(principal, first.conversation_id)
    fresh = world.services.reader.freshness(principal, turns)
    for one in world.hidden(principal):
        found = conversations.page(principal, one.secret, limit=1_000).items
        assert first.conversation_id not in {each.id for each in found}
    return repr((turns, exports, fresh))


def list_documents(world: World, principal: Principal) -> str:
    """The lists and the counts, which must be those of the readable documents."""
    documents, readable = world.services.documents, world.readable(principal)
    page = documents.page(principal, DocumentFilter(), limit=100)
    contents = documents.contents(principal)
    counts = (
        page.total,
        len(documents.ids(principal, DocumentFilter())),
        sum(one.documents for one in contents.sources),
        sum(contents.formats.values()),
        sum(contents.scripts.values()),
        sum(documents.by_passages(principal).values()),
        world.services.library.status(principal).documents,
        sum(one.figures.documents for one in world.services.sources.list(principal)),
    )
    assert counts == (len(readable),) * len(counts)
    return repr((page, contents))


def list_sources(world: World, principal: Principal) -> str:
    """The sources and choices, which must be those that the principal may read."""
    shown = world.services.sources.list(principal)
    choices = world.services.choices.choices(principal)
    names = {one.source.name for one in world.readable(principal)}
    assert names <= {one.source.name for one in shown}
    assert {*choices.sources.values()} == names
    return repr((shown, choices, world.services.sources.collections(principal)))


def suggest(world: World, principal: Principal) -> str:
    day = date.fromordinal(world.random.randrange(735_000, 740_000))
    return repr(world.services.suggestions.suggest(principal, day, 20))


def _result(call: Callable[[str], object], document_id: str) -> tuple[str, int]:
    """What the call shows, with the id replaced in an error, and how often it asks the ledger.

    The number stands for the time, which would not be the same in two calls.
    """
    with _statements() as statements:
        try:
            shown = repr(call(document_id))
        except NotFoundError as error:
            shown = f"{type(error).__name__}: {str(error).replace(document_id, 'ID')}"
    return shown, len(statements)


@contextmanager
def _statements() -> Iterator[list[str]]:
    """The SQL statements that run until the end of the block."""
    statements: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
        statements.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield statements
    finally:
        event.remove(Engine, "before_cursor_execute", note)


def open_document(world: World, principal: Principal) -> str:
    """One document in every way; a hidden one must look exactly like one that does not exist."""
    services, document = world.services, world.random.choice(world.documents)
    calls: list[Callable[[str], object]] = [
        lambda id_: services.documents.get(principal, id_),
        lambda id_: services.documents.passages(principal, id_),
        lambda id_: services.reader.view(principal, id_),
        lambda id_: services.reader.text(principal, id_),
        lambda id_: services.reader.find(principal, id_, "the"),
        lambda id_: services.reader.passages(principal, id_),
        lambda id_: services.originals.read(principal, id_),
    ]
    services.access.readable(principal)  # reads changed permissions, which takes longer once
    shown = [_result(call, document.id) for call in calls]
    if document in world.hidden(principal):
        assert shown == [_result(call, NOWHERE) for call in calls]
    return "\n".join(text for text, _statements in shown)


def use_tools(world: World, principal: Principal) -> str:
    """The tools of an agent."""
    document = world.random.choice(world.documents)
    arguments: Mapping[str, dict[str, object]] = {
        "search_documents": {"query": question(world), "k": 20},
        "ask_documents": {"question": question(world)},
        "open_document": {"document_id": document.id},
        "list_sources": {},
    }
    tools = document_tools(world.services, principal)
    return "\n".join(tool.invoke(arguments[tool.name]) for tool in tools)


def read_import_records(world: World, principal: Principal) -> str:
    """Imports and failures: those of readable sources for editors, and none for readers."""
    services, source = world.services, world.random.choice(world.documents).source
    may_see = world.sees_imports(principal, source)
    history = services.queue.history(principal, source.id)
    assert bool(history) == may_see
    items = [services.import_reports.items(principal, run.id, limit=100) for run in history]
    if not may_see:
        assert services.failures.page(principal).total == 0
        with pytest.raises((ForbiddenError, NotFoundError)) as refused:
            services.sources.refresh(principal, source.id)
        return str(refused.value)
    return repr((history, items, services.failures.page(principal)))


def follow_link(world: World, principal: Principal) -> str:
    """A conversation that another person shares, in the service and through the API.

    Its owner knows the secrets of what they may read, and writes one into the first question.
    """
    services, owner = world.services, world.principal()
    known = [one.secret for one in world.readable(owner)][:1]
    first = services.chat.ask(owner, " ".join(["Who is", *known]) + "?")
    services.chat.ask(owner, question(world), first.conversation_id)
    link = services.sharing.share(owner, first.conversation_id)
    world.change_permissions()
    shared = services.sharing.follow(principal, link.token)
    response = world.client(principal).get(f"/api/v1/shared-conversations/{link.token}")
    assert response.status_code == 200, response.text
    # The list of conversations shows the owner's own words to the owner, whatever the groups.
    services.conversations.delete(owner, first.conversation_id)
    return repr((shared, response.json()))


def label(world: World, principal: Principal) -> str:
    """A label of any passage, and the labels that the principal gave."""
    services, document = world.services, world.random.choice(world.documents)
    [passage_id, *_] = world.passage_ids(document)
    try:
        services.labels.label(principal, "Who is the owner?", passage_id, 1)
        assert document not in world.hidden(principal)
    except NotFoundError:
        assert document in world.hidden(principal)
    return repr(services.labels.list(principal))


def call_api(world: World, principal: Principal) -> str:
    """One operation of the REST API or of the OpenAI protocol, with a key of the principal."""
    path, body = world.random.choice(
        [
            ("/api/v1/search", {"query": question(world), "k": 20, "explain": True}),
            ("/api/v1/search/compare", {"query": question(world)}),
            ("/api/v1/ask", {"question": question(world)}),
            ("/v1/chat/completions", {"messages": [_message(world)], "model": "footnote"}),
            ("/v1/responses", {"input": question(world), "model": "footnote"}),
            ("/api/v1/documents", None),
            ("/api/v1/sources", None),
            ("/api/v1/library", None),
            ("/api/v1/conversations", None),
            ("/api/v1/imports", None),
            (f"/api/v1/documents/{world.random.choice(world.documents).id}/text", None),
            (f"/api/v1/documents/{world.random.choice(world.documents).id}/passages", None),
        ]
    )
    client: TestClient = world.client(principal)
    response = client.get(path) if body is None else client.post(path, json=body)
    assert response.status_code in (200, 404), response.text
    return json.dumps(response.json(), ensure_ascii=False)


def _message(world: World) -> dict[str, str]:
    return {"role": "user", "content": question(world)}


FACES: tuple[Callable[[World, Principal], str], ...] = (
    search,
    compare_modes,
    correct_spelling,
    ask,
    converse,
    list_documents,
    list_sources,
    suggest,
    open_document,
    use_tools,
    read_import_records,
    follow_link,
    label,
    call_api,
    call_mcp,
    ask_on_a_page,
    open_link,
    open_pages,
    view_library,
)


def hidden_secrets(
    world: World, principal: Principal, face: Callable[[World, Principal], str]
) -> list[SecretDocument]:
    """The documents that the face shows to the principal although they must be hidden."""
    try:
        shown = face(world, principal)
    except AppError as error:
        shown = str(error)
    return [one for one in world.hidden(principal) if one.secret in shown]
