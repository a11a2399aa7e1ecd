"""The built-in model, built once per run, and the loopback server."""

import pytest

from models.builtin import BuiltinEmbeddings
from models.builtin_models import MiniLM
from tests import shared_work
from tests.fakes.openai import serving


@pytest.fixture(autouse=True)
def _models_run_again(monkeypatch):
    """Run the model for each text, also for one that it has already embedded."""
    monkeypatch.setattr(shared_work, "remembers_vectors", False)


@pytest.fixture(scope="session")
def cache_dir(tmp_path_factory):
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="session")
def int8(cache_dir):
    return BuiltinEmbeddings(MiniLM(cache_dir), cache_dir)


@pytest.fixture(scope="session")
def fp32(cache_dir):
    return BuiltinEmbeddings(MiniLM(cache_dir), cache_dir, precision="fp32")


@pytest.fixture
def server():
    with serving() as running:
        yield running
