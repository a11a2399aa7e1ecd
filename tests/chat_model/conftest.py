"""A real chat model over the sample documents; runs only with the marker `chat_model`."""

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
    """Exclude these files from every other run, whatever its markers."""
    return None if "chat_model" in config.option.markexpr else True


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """The base URL of the running server; skips if its packages are missing."""
    folder = tmp_path_factory.mktemp("weights")
    with serving(assembled_weights(folder), folder / "server.log") as url:
        yield url


@pytest.fixture
def recorder(server):
    """Records the requests to the model and its responses."""
    with recording(server) as running:
        yield running


@pytest.fixture
def model_settings(recorder):
    """Settings that fit the model's small context."""
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
    """A data folder with the sample documents."""
    data_dir = tmp_path_factory.mktemp("data")
    (data_dir / "cache").symlink_to(model_cache)
    services = bootstrap.build_services(load_settings(data_dir=data_dir))
    services.directories.import_directory(LOCAL_USER, ROOT / "samples" / "documents")
    return data_dir


@pytest.fixture
def imported(library, model_settings):
    """A factory of services over the sample documents that use the model."""

    def build(**settings):
        values = {"data_dir": library, "allowed_hosts": TEST_CLIENT, **model_settings, **settings}
        return bootstrap.build_services(load_settings(**values))

    return build


@pytest.fixture
def services(imported):
    """Services over the sample documents that use the model."""
    return imported()
