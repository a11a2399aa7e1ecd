"""The address of the server in Streamlit's page."""

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.testclient import TestClient
from streamlit import file_util
from streamlit.web.server.starlette.starlette_static_routes import create_streamlit_static_handler

from ui.shared.safe_html import script_text
from ui.shared.server_middleware import ServerAddress

SCRIPT = f"<script>{script_text('address')}</script>"
ERROR = "<title>Not found</title>"


def refuse(_request: object) -> Response:
    return HTMLResponse(ERROR, status_code=404)


def text(_request: object) -> Response:
    return PlainTextResponse("<title>in a text</title>")


@pytest.fixture(scope="module")
def client() -> TestClient:
    """Streamlit's own files, which a browser asks for behind the middleware."""
    directory = file_util.get_static_dir()
    files = create_streamlit_static_handler(directory=directory, base_url="")
    routes = [Route("/error", refuse), Route("/text", text), Mount("/", app=files)]
    middleware = [Middleware(ServerAddress), Middleware(GZipMiddleware)]
    client = TestClient(Starlette(routes=routes, middleware=middleware))
    client.headers |= {"Accept": "text/html,*/*;q=0.8", "Accept-Encoding": "gzip"}
    return client


@pytest.mark.parametrize("path", ["/", "/library", "/library?id=1"])
def test_each_page_gets_the_script_before_all_others(client, path):
    page = client.get(path)
    assert page.text.count(SCRIPT) == 1
    assert page.text.index("<script") == page.text.index(SCRIPT)
    assert page.headers["content-length"] == str(len(page.content))


def test_a_browser_does_not_reuse_the_page_without_the_script(client):
    assert not {"etag", "last-modified"} & {name.lower() for name in client.get("/").headers}


def test_a_browser_does_not_keep_a_page_from_before_an_upgrade(client):
    stored = client.get("/", headers={"Accept": "*/*"}).headers
    conditions = {
        "If-None-Match": stored["etag"],
        "If-Modified-Since": stored["last-modified"],
        "Range": "bytes=0-9",
    }
    for name, condition in conditions.items():
        page = client.get("/", headers={name: condition})
        assert (page.status_code, page.text.count(SCRIPT)) == (200, 1)


def test_a_cache_does_not_serve_a_page_for_another_kind_of_request(client):
    assert "Accept" in client.get("/").headers.get_list("vary", split_commas=True)


def test_the_rest_of_the_page_is_unchanged(client):
    index = file_util.get_static_dir() + "/index.html"
    served = client.get("/library").text.replace(f"{SCRIPT}\n    ", "")
    with open(index, encoding="utf-8") as file:
        assert served == file.read()


def test_other_responses_are_passed_on(client):
    assert client.get("/error").text == ERROR
    assert client.get("/text").text == "<title>in a text</title>"
    assert client.get("/favicon.png").headers["etag"]
    assert client.head("/library").text == ""


def test_other_requests_are_passed_on(client):
    assert SCRIPT not in client.get("/library", headers={"Accept": "application/json"}).text
