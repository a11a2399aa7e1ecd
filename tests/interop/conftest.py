"""The vector stores, each over vectors that the texts contain, and a library for other clients."""

import json

import pytest

import bootstrap
from domain import LOCAL_USER
from settings import load_settings
from storage.opensearch.opensearch_vector_store import OpenSearchVectorStore
from storage.vectors.passage_store import DeepLakePassages
from tests.api.openai.conversations import QUOTE, REPLY
from tests.fakes.command_line import CommandLine
from tests.fakes.openai import EMBEDDING_MODEL, MODEL, Text, serving
from tests.fakes.tool_calls import Call, ToolCalls
from tests.storage.vectors.random_vectors import TextVectors

PAGES = {
    "leave.md": f"# Leave policy\n\n## Annual leave\n\n{QUOTE}.",
    "vpn.md": "# VPN\n\nInstall WireGuard and choose the Bristol gateway.",
}


@pytest.fixture(params=["deep lake", pytest.param("opensearch", marks=pytest.mark.opensearch)])
def open_store(request, tmp_path):
    """Opens a store of either kind with options."""
    if request.param == "deep lake":
        folder = tmp_path / "passages"
        return lambda **options: DeepLakePassages(folder, TextVectors(), **options)
    client, name = map(request.getfixturevalue, ("os_client", "index_name"))
    return lambda **options: OpenSearchVectorStore(client, name, TextVectors(), **options)


@pytest.fixture
def store(open_store):
    return open_store()


def reply_to(body):
    """Calls a tool if there is one without a result; writes JSON if it is requested."""
    if body.get("response_format"):
        return Text(json.dumps({"days": 25}))
    if body.get("tools") and body["messages"][-1]["role"] != "tool":
        return ToolCalls(Call("weather", {"city": "Busan"}, id="call_1"))
    return Text(*REPLY.partition("25"), prompt_tokens=42, completion_tokens=9)


@pytest.fixture(scope="module")
def served_library(tmp_path_factory):
    """Services of a library, and the command line over it, with a chat model and embeddings."""
    root = tmp_path_factory.mktemp("interop")
    for folder in ("data", "handbook"):
        (root / folder).mkdir(mode=0o700)
    for name, text in PAGES.items():
        (root / "handbook" / name).write_text(text, encoding="utf-8")
    with serving() as model_server:
        model_server.answer = reply_to
        models = {
            "openai_base_url": model_server.url,
            "chat_model": MODEL,
            "embedding_provider": "openai",
            "embedding_model": EMBEDDING_MODEL,
            "embedding_base_url": model_server.url,
        }
        services = bootstrap.build_services(load_settings(data_dir=root / "data", **models))
        services.directories.import_directory(LOCAL_USER, root / "handbook")
        environment = {f"FOOTNOTE_{name.upper()}": value for name, value in models.items()}
        environment["OPENAI_BASE_URL"] = environment.pop("FOOTNOTE_OPENAI_BASE_URL")
        yield services, CommandLine(root / "data", root, environment)
