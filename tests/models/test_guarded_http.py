"""A model's server at an address that a page stored is used only if its address is permitted."""

import asyncio
import socket
from http.server import BaseHTTPRequestHandler, HTTPServer

import httpcore2
import pytest

from domain.errors import ModelError, ModelUnavailableError
from domain.web.address_guard import AddressGuard, AllowedHosts
from models.chat_choice import ChatSpec, NoListError, build_chat_model, listed_models
from models.embedding_choice import EmbeddingSpec, build_embeddings
from models.guarded_http import _FIRST_S, _GuardedBackend
from tests.fakes.openai import EMBEDDING_MODEL, MODEL, Text
from tests.fakes.server_thread import serving_in_thread
from tests.servers import free_port

NOBODY = AddressGuard(AllowedHosts())
ANYBODY_NEAR = AddressGuard(AllowedHosts(), permits_private=True)
FORBIDDEN = "FOOTNOTE_ALLOWED_PRIVATE_HOSTS"


def spec(url, guard):
    return ChatSpec(MODEL, base_url=url, guard=guard)


def url_with(server, name):
    return server.url.replace("127.0.0.1", name)


def test_a_permitted_server_answers(model_server):
    model_server.will(*[Text("Hello.")] * 2)
    model = build_chat_model(spec(model_server.url, ANYBODY_NEAR))
    assert model.invoke("Hi").content == "Hello."
    assert asyncio.run(model.ainvoke("Hi")).content == "Hello."
    assert MODEL in listed_models(spec(model_server.url, ANYBODY_NEAR).endpoint())


def test_a_forbidden_server_gets_no_request(model_server, tmp_path):
    model = build_chat_model(spec(model_server.url, NOBODY))
    with pytest.raises(ModelError, match=FORBIDDEN):
        model.invoke("Hi")
    with pytest.raises(ModelError, match=FORBIDDEN):
        list(model.stream("Hi"))
    with pytest.raises(ModelError, match=FORBIDDEN):
        asyncio.run(model.ainvoke("Hi"))
    with pytest.raises(NoListError, match=FORBIDDEN):
        listed_models(spec(model_server.url, NOBODY).endpoint())
    embedding = EmbeddingSpec("openai", EMBEDDING_MODEL, base_url=model_server.url, guard=NOBODY)
    with pytest.raises(ModelError, match=FORBIDDEN):
        build_embeddings(embedding, tmp_path).embed_query("Hi")
    assert model_server.requests == []


def test_the_error_does_not_tell_an_open_port_from_a_closed_one(model_server):
    messages = set()
    for url in (model_server.url, f"http://127.0.0.1:{free_port()}/v1"):
        with pytest.raises(ModelError) as raised:
            build_chat_model(spec(url, NOBODY)).invoke("Hi")
        messages.add(str(raised.value))
    assert len(messages) == 1


def test_the_connection_is_made_to_the_address_that_was_checked(model_server, monkeypatch):
    lookups = []
    really = socket.getaddrinfo

    def getaddrinfo(host, *arguments, flags=0, **options):
        if host == "model.example.com" and not flags & socket.AI_NUMERICHOST:
            lookups.append(host)
            host = "127.0.0.1"
        return really(host, *arguments, flags=flags, **options)

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    model_server.will(Text("Hello."))
    url = url_with(model_server, "model.example.com")
    assert build_chat_model(spec(url, ANYBODY_NEAR)).invoke("Hi").content == "Hello."
    assert len(lookups) == 1


def test_a_server_that_listens_on_one_address_of_its_name_is_found(model_server, monkeypatch):
    really = socket.getaddrinfo

    def getaddrinfo(host, *arguments, **options):
        names = ("::1", "127.0.0.1") if host == "model.example.com" else (host,)
        return [one for name in names for one in really(name, *arguments, **options)]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    model_server.will(*[Text("Hello.")] * 2)
    model = build_chat_model(spec(url_with(model_server, "model.example.com"), ANYBODY_NEAR))
    assert model.invoke("Hi").content == "Hello."
    assert asyncio.run(model.ainvoke("Hi")).content == "Hello."


@pytest.fixture
def offline(monkeypatch):
    def getaddrinfo(*_arguments, **_options):
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)


@pytest.mark.usefixtures("offline")
def test_a_failed_lookup_is_reported_as_an_unavailable_model():
    model = build_chat_model(spec("http://model.example.com/v1", NOBODY))
    with pytest.raises(ModelUnavailableError, match="can't be reached"):
        model.invoke("Hi")
    with pytest.raises(ModelUnavailableError, match="can't be reached"):
        asyncio.run(model.ainvoke("Hi"))
    with pytest.raises(NoListError, match="can't be reached") as raised:
        listed_models(spec("http://model.example.com/v1", NOBODY).endpoint())
    assert raised.value.retryable


class Proxy(BaseHTTPRequestHandler):
    """Redirects every request to an address of a cloud."""

    def redirect(self):
        self.server.requests.append(self.path)
        self.send_response(307)
        self.send_header("Location", "http://169.254.169.254/latest")
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_POST = redirect

    def log_message(self, *_arguments):
        pass


@pytest.fixture
def proxy(monkeypatch):
    """The requests that a proxy of the environment gets."""
    server = HTTPServer(("127.0.0.1", 0), Proxy)
    server.requests = []
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("NO_PROXY", "")
    with serving_in_thread(server):
        yield server.requests


@pytest.mark.parametrize(
    ("url", "requests"),
    [
        ("http://2130706433:9/v1", []),
        ("http://169.254.169.254/v1", []),
        ("http://model.example.com/v1", ["model.example.com"]),
    ],
    ids=["loopback", "an address of a cloud", "a redirect to one"],
)
def test_a_proxy_is_not_asked_for_a_forbidden_address(proxy, url, requests):
    model = build_chat_model(spec(url, NOBODY))
    calls = [
        (ModelError, lambda: model.invoke("Hi")),
        (ModelError, lambda: asyncio.run(model.ainvoke("Hi"))),
        (NoListError, lambda: listed_models(spec(url, NOBODY).endpoint())),
    ]
    for error, call in calls:
        with pytest.raises(error, match=FORBIDDEN):
            call()
        assert [one.split("/")[2] for one in proxy] == requests
        proxy.clear()


class Unreachable(httpcore2.NetworkBackend):
    """Times out on every address, and records it with the time limit."""

    def __init__(self):
        self.attempts = []

    def connect_tcp(self, host, _port, timeout=None, **_options):
        self.attempts.append((host, timeout))
        raise httpcore2.ConnectTimeout


@pytest.mark.parametrize(
    ("limit", "limits"),
    [(60.0, [_FIRST_S, _FIRST_S, 60.0]), (None, [_FIRST_S, _FIRST_S, None]), (1.0, [1.0] * 3)],
)
def test_only_the_last_address_of_a_name_gets_the_whole_time(monkeypatch, limit, limits):
    addresses = ["10.0.0.1", "10.0.0.2", "10.0.0.3"]
    monkeypatch.setattr(AddressGuard, "addresses", lambda *_arguments: addresses)
    unreachable = Unreachable()
    backend = _GuardedBackend(ANYBODY_NEAR, unreachable)
    with pytest.raises(httpcore2.ConnectTimeout):
        backend.connect_tcp("model.example.com", 80, timeout=limit)
    assert unreachable.attempts == list(zip(addresses, limits, strict=True))
