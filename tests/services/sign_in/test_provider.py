from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from domain.errors import SignInError
from services.sign_in import provider
from services.sign_in.provider import check_provider, metadata_url
from tests.fakes.server_thread import serving_in_thread

BODIES = {
    "/good": (200, b'{"authorization_endpoint": "https://login.example.com/auth"}'),
    "/down": (503, b'{"authorization_endpoint": "https://login.example.com/auth"}'),
    "/page": (200, b"<html>"),
    "/list": (200, b"[]"),
    "/number": (200, b"7"),
}
PATH = "/.well-known/openid-configuration"


class Provider(BaseHTTPRequestHandler):
    def do_GET(self):
        status, body = BODIES.get(self.path.removesuffix(PATH), (404, b""))
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    with serving_in_thread(server):
        yield f"http://127.0.0.1:{server.server_port}"


def test_the_address_of_a_provider_is_below_its_issuer():
    expected = f"https://login.example.com/staff{PATH}"
    assert metadata_url("https://login.example.com/staff") == expected
    assert metadata_url("https://login.example.com/staff/") == expected


def test_a_provider_that_describes_itself_can_be_reached(address):
    check_provider(f"{address}/good")


@pytest.mark.parametrize("name", ["down", "page", "list", "number", "missing"])
def test_a_server_that_is_no_provider_is_reported(address, name):
    with pytest.raises(SignInError, match="can't be reached"):
        check_provider(f"{address}/{name}")


def test_a_server_that_does_not_run_is_reported(address):
    with pytest.raises(SignInError, match="can't be reached"):
        check_provider("http://127.0.0.1:9")


def test_a_server_that_does_not_answer_is_reported(monkeypatch):
    monkeypatch.setattr(provider, "_TIMEOUT_S", 0.1)
    silent = ThreadingHTTPServer(("127.0.0.1", 0), Provider)  # listens, and never accepts
    with pytest.raises(SignInError, match="can't be reached"):
        check_provider(f"http://127.0.0.1:{silent.server_port}/good")
    silent.server_close()
