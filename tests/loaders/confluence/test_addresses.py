"""A site is read only from permitted addresses, and only from the server that the user entered."""

import socket
from contextlib import suppress
from urllib.parse import urlsplit

import pytest
from requests import Response

from domain.errors import ForbiddenAddressError, SourceError, SourceUnavailableError
from domain.web.address_guard import AddressGuard, AllowedHosts
from loaders.confluence.client import WHO, ConfluenceClient
from loaders.confluence.guarded_session import GuardedSession
from tests.fakes.confluence import FakeConfluence
from tests.fakes.loopback import Answer
from tests.loaders.confluence.reading import LOOPBACK, client_of, login_to
from tests.servers import free_port

NOBODY = AddressGuard(AllowedHosts())


def port_of(fake):
    return urlsplit(fake.origin).port


def client_at(fake, url, guard=NOBODY, waits=None):
    waits = [] if waits is None else waits
    return ConfluenceClient(url, login_to(fake), lambda *wait: waits.append(wait), guard)


def test_a_private_address_is_refused_without_a_request_or_a_retry(fake):
    waits = []
    with pytest.raises(ForbiddenAddressError, match="FOOTNOTE_ALLOWED_PRIVATE_HOSTS"):
        client_at(fake, fake.url, waits=waits).get(WHO)
    assert (fake.requests, waits) == ([], [])


def test_the_error_does_not_tell_an_open_port_from_a_closed_one(fake):
    messages = set()
    for port in (port_of(fake), free_port()):
        with pytest.raises(SourceError) as raised:
            client_at(fake, f"http://127.0.0.1:{port}").get(WHO)
        messages.add(str(raised.value))
    assert len(messages) == 1


def test_a_name_that_moves_to_a_private_address_is_not_followed(fake, monkeypatch):
    """DNS rebinding: the name is public when it is checked, and private afterwards."""
    lookups, connections = [], []
    really = socket.getaddrinfo

    def getaddrinfo(host, *arguments, **options):
        if host == "wiki.example.com":
            lookups.append(host)
            host = "8.8.8.8" if len(lookups) == 1 else "127.0.0.1"
        return really(host, *arguments, **options)

    def connect(_socket, address):
        connections.append(address[0])
        raise RuntimeError("no connection leaves this test")

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    monkeypatch.setattr(socket.socket, "connect", connect)
    with pytest.raises(RuntimeError):
        client_at(fake, f"http://wiki.example.com:{port_of(fake)}").get(WHO)
    assert (connections, len(lookups)) == (["8.8.8.8"], 1)
    assert fake.requests == []


def test_a_failed_lookup_is_retried_and_reported_as_an_unavailable_source(fake, monkeypatch):
    def getaddrinfo(*_arguments, **_options):
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    waits = []
    with pytest.raises(SourceUnavailableError, match="can't be reached") as raised:
        client_at(fake, "http://wiki.example.com", waits=waits).get(WHO)
    assert raised.value.retryable
    assert waits


def test_the_connection_is_made_to_the_address_that_was_checked(fake, monkeypatch):
    lookups = []
    really = socket.getaddrinfo

    def getaddrinfo(host, *arguments, **options):
        lookups.append(host)
        is_site = host == "wiki.example.com"
        return really("127.0.0.1" if is_site else host, *arguments, **options)

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    url = fake.url.replace("127.0.0.1", "wiki.example.com")
    assert client_at(fake, url, LOOPBACK).get(WHO)["displayName"] == "Kim Minji"
    assert lookups.count("wiki.example.com") == 1


def test_a_refused_connection_to_a_permitted_address_is_retried(fake):
    waits = []
    url = f"http://127.0.0.1:{free_port()}"
    with pytest.raises(SourceUnavailableError, match="can't be reached"):
        client_at(fake, url, LOOPBACK, waits).get(WHO)
    assert waits


def test_a_proxy_does_not_open_private_addresses(fake, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", fake.origin)
    monkeypatch.setenv("NO_PROXY", "")
    with pytest.raises(ForbiddenAddressError):
        client_at(fake, "http://2130706433:9").get(WHO)
    assert fake.requests == []


def test_a_proxy_is_asked_for_an_address_whose_usual_port_is_permitted(fake, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", fake.origin)
    monkeypatch.setenv("NO_PROXY", "")
    guard = AddressGuard(AllowedHosts.parse("10.0.0.7:80"))
    with suppress(SourceError):
        client_at(fake, "http://10.0.0.7", guard).get(WHO)
    assert fake.requests


@pytest.mark.parametrize(
    ("url", "target", "is_followed"),
    [
        ("https://wiki.example.com/a", "https://wiki.example.com/b", True),
        ("https://wiki.example.com/a", "/b", True),
        ("http://wiki.example.com/a", "https://wiki.example.com/a", True),
        ("https://wiki.example.com/a", "https://evil.example.com/a", False),
        ("https://wiki.example.com/a", "//evil.example.com/a", False),
        ("https://wiki.example.com/a", "https://wiki.example.com:8443/a", False),
        ("https://wiki.example.com/a", "http://127.0.0.1/", False),
        ("https://acme.atlassian.net/a", "https://api.media.atlassian.com/file/1", True),
        ("https://acme.atlassian.net/a", "http://api.media.atlassian.com/file/1", False),
        ("https://wiki.example.com/a", "https://api.media.atlassian.com/file/1", False),
        ("https://acme.atlassian.net/a", "https://evil-atlassian.com/", False),
    ],
)
def test_a_redirect_to_another_server_is_refused(url, target, is_followed):
    response = Response()
    response.status_code, response.url = 302, url
    response.headers["location"] = target
    session = GuardedSession(NOBODY)
    if is_followed:
        assert session.get_redirect_target(response) == target
        return
    with pytest.raises(SourceError, match="redirects to another server"):
        session.get_redirect_target(response)


def test_a_redirect_of_a_site_to_another_server_sends_nothing_to_it(server, monkeypatch):
    with FakeConfluence(cloud=False) as other:
        redirect = Answer(302, b"", headers={"Location": f"{other.url}/{WHO}"})
        monkeypatch.setattr(server, "answer", lambda _request: redirect)
        with pytest.raises(SourceError, match="redirects to another server"):
            client_of(server).get(WHO)
        assert other.requests == []
