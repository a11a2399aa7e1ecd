"""A library, and the real MCP client for it over each transport."""

import pytest

import bootstrap
from api.mcp.mcp_resources import PAGE
from domain import LOCAL_USER
from settings import load_settings
from tests.api.mcp.documents import LEAVE, LONG, key
from tests.fakes.command_line import CommandLine
from tests.fakes.mcp_clients import connected, over_http, over_stdio, serving_mcp


@pytest.fixture(scope="module")
def library(tmp_path_factory, model_cache):
    """Services of a library with more documents than one page of the list, one of them long."""
    root = tmp_path_factory.mktemp("mcp")
    (root / "data").mkdir()
    (root / "data" / "cache").symlink_to(model_cache)
    (root / "files").mkdir()
    (root / "files" / "leave.md").write_text(LEAVE, encoding="utf-8")
    (root / "files" / "lift.txt").write_text(LONG, encoding="utf-8")
    for n in range(PAGE):
        (root / "files" / f"note {n:03}.txt").write_text(f"Note {n}.", encoding="utf-8")
    services = bootstrap.build_services(load_settings(data_dir=root / "data"))
    services.directories.import_directory(LOCAL_USER, root / "files")
    services.root = root
    return services


@pytest.fixture(scope="module", params=["stdio", "http", "http, as clients before 2026 use it"])
def client(request, library):
    if request.param == "stdio":
        with connected(over_stdio(CommandLine(library.root / "data", library.root))) as client:
            yield client
    else:
        mode = "auto" if request.param == "http" else "legacy"
        with serving_mcp(library) as url:
            with connected(over_http(url, key(library)), mode=mode) as client:
                yield client
