"""A model's server at an address that a page stored is used only if its address is permitted."""

import asyncio
import socket

import pytest

from domain.errors import ModelError
from domain.web.address_guard import AddressGuard, AllowedHosts
from models.chat_choice import ChatSpec, NoListError, build_chat_model, listed_models
from models.embedding_choice import EmbeddingSpec, build_embeddings
from tests.fakes.openai import EMBEDDING_MODEL, MODEL, Text
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

    def getaddrinfo(host, *arguments, **options):
        lookups.append(host)
        is_model = host == "model.example.com"
        return really("127.0.0.1" if is_model else host, *arguments, **options)

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    model_server.will(Text("Hello."))
    url = url_with(model_server, "model.example.com")
    assert build_chat_model(spec(url, ANYBODY_NEAR)).invoke("Hi").content == "Hello."
    assert lookups.count("model.example.com") == 1


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
