"""The pages and the MCP server as faces: real pages over the library, and the real MCP client."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import streamlit as st
from streamlit.testing.v1 import AppTest

import bootstrap
from domain import Principal
from services.chat.sharing_service import SHARED
from tests.fakes.mcp_clients import connected, over_http, serving_mcp
from tests.leaks.world import World, question
from ui.library.library_page import FAILURES, FIGURES, VIEW
from ui.shared import frame, session

PAGES = Path(__file__).parents[2] / "pages"


def ask_on_a_page(world: World, principal: Principal) -> str:
    """A conversation on the chat page, opened again after permissions have changed."""
    with _pages(world, principal):
        page = _page("chat.py").run()
        page.chat_input[0].set_value(question(world)).run()
        assert not page.exception, page.exception
        world.change_permissions()
        return _shown(_page("chat.py", **page.query_params).run())


def open_link(world: World, principal: Principal) -> str:
    """A conversation that another person shares, on the chat page."""
    owner = world.principal()
    turn = world.services.chat.ask(owner, question(world))
    link = world.services.sharing.share(owner, turn.conversation_id)
    world.change_permissions()
    with _pages(world, principal):
        return _shown(_page("chat.py", **{SHARED: link.token}).run())


def open_pages(world: World, principal: Principal) -> str:
    """The pages that only show something."""
    document = world.random.choice(world.documents)
    name, parameters = world.random.choice(
        [
            ("chat.py", {}),
            ("document.py", {"id": document.id}),
            ("imports.py", {}),
            ("library.py", {}),
            ("library.py", {"id": document.id}),
            ("retrieval_lab.py", {}),
            ("status.py", {}),
        ]
    )
    with _pages(world, principal):
        page = _page(name, **parameters).run()
    if name == "document.py" and document in world.hidden(principal):
        assert page.exception  # app.py shows its message
        return ""
    shown = _shown(page)
    # The address, which names the document, is the person's own.
    return shown.replace(document.id, "ID")


def call_mcp(world: World, principal: Principal) -> str:
    """One tool or resource of the MCP server."""
    document = world.random.choice(world.documents)
    tool, arguments = world.random.choice(
        [
            ("search_documents", {"query": question(world), "k": 20}),
            ("ask_documents", {"question": question(world)}),
            ("open_document", {"document_id": document.id}),
            ("list_sources", {}),
        ]
    )
    with (
        serving_mcp(world.services) as url,
        connected(over_http(url, world.secret(principal))) as client,
    ):
        result = client.call(tool, **arguments)
        resources = client.ask("list_resources")
    return f"{result.model_dump_json()}{resources.model_dump_json()}"


def view_library(world: World, principal: Principal) -> str:
    """The other views of the library, and a comparison of search modes in the retrieval lab."""
    with _pages(world, principal):
        views = [_page("library.py"), _page("library.py")]
        for view, page in zip((FAILURES, FIGURES), views, strict=True):
            page.session_state[VIEW] = view
            page.run()
        return "\n".join(map(_shown, views))


def _show_label(page: object, *, label: str = "", **_options: object) -> None:
    st.caption(label)


@contextmanager
def _pages(world: World, principal: Principal) -> Iterator[None]:
    """The pages use the library on behalf of this principal, as of a person without sign-in."""
    st.cache_resource.clear()
    with (
        patch.object(bootstrap, "build_services", lambda: world.services),
        patch.object(session, "LOCAL_USER", principal),
        patch.object(frame, "_warm_up", lambda services: None),
        patch.object(st, "page_link", _show_label),  # needs the navigation of app.py
    ):
        yield
    st.cache_resource.clear()


def _page(script: str, **parameters: Any) -> AppTest:
    page = AppTest.from_file(str(PAGES / script), default_timeout=60)
    page.session_state["framed"] = True
    for name, value in parameters.items():
        page.query_params[name] = value
    return page


def _shown(page: AppTest) -> str:
    """Everything that the server sends to the browser."""
    assert not page.exception, page.exception
    return "\n".join(str(one.proto) for one in _elements(page._tree))


def _elements(node: Any) -> Iterator[Any]:
    if hasattr(node, "proto") and node.proto is not None:
        yield node
    for child in getattr(node, "children", {}).values():
        yield from _elements(child)
