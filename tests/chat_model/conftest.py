"""A real chat model, over the sample documents; only where the marker `chat_model` is asked for."""

from pathlib import Path

import pytest

import bootstrap
from domain import LOCAL_USER
from settings import load_settings
from tests.chat_model.recorder import recording
from tests.chat_model.server import NAME, assembled_weights, serving
from tests.conftest import TEST_CLIENT
from tests.fakes.command_line import ROOT

MOST_TOKENS = 120
"""The longest answer of these tests; the model writes some 50 tokens a second."""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave these files out of every other run, whatever its markers."""
    return None if "chat_model" in config.option.markexpr else True


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """The base URL of the running server; skips where its packages are missing."""
    folder = tmp_path_factory.mktemp("weights")
    with serving(assembled_weights(folder), folder / "server.log") as url:
        yield url


@pytest.fixture
def recorder(server):
    """What goes to the model and comes back."""
    with recording(server) as running:
        yield running


@pytest.fixture
def model_settings(recorder):
    """Settings that let the model answer within its small context."""
    return {
        "openai_base_url": recorder.url,
        "chat_model": NAME,
        "chat_max_tokens": MOST_TOKENS,
        "passages_tokens": 700,
        "history_tokens": 300,
        "top_k": 3,
    }


@pytest.fixture(scope="session")
def library(server, tmp_path_factory, model_cache):
    """A data folder that holds the sample documents."""
    data_dir = tmp_path_factory.mktemp("data")
    (data_dir / "cache").symlink_to(model_cache)
    services = bootstrap.build_services(load_settings(data_dir=data_dir))
    services.directories.import_directory(LOCAL_USER, ROOT / "sample_documents")
    return data_dir


@pytest.fixture
def imported(library, model_settings):
    """Builds services over the sample documents whose questions the model answers."""

    def build(**settings):
        chosen = {"data_dir": library, "allowed_hosts": TEST_CLIENT, **model_settings, **settings}
        return bootstrap.build_services(load_settings(**chosen))

    return build


@pytest.fixture
def services(imported):
    """Services over the sample documents whose questions the model answers."""
    return imported()
