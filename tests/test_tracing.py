"""Traces are sent only if a LangSmith key or endpoint is configured."""

import subprocess
import sys

import pytest
from langchain_core.runnables import RunnableLambda
from langsmith.utils import get_env_var, tracing_is_enabled

from bootstrap.tracing import stop_traces_without_destination

SWITCHES = ["LANGSMITH_TRACING", "LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING_V2"]
OLD_SWITCHES = ["LANGCHAIN_TRACING", "LANGCHAIN_HANDLER"]
DESTINATIONS = [
    "LANGSMITH_API_KEY",
    "LANGCHAIN_API_KEY",
    "LANGSMITH_ENDPOINT",
    "LANGCHAIN_ENDPOINT",
    "LANGSMITH_RUNS_ENDPOINTS",
]


@pytest.fixture
def environment(monkeypatch):
    """The environment of this process, restored after the test."""
    for name in [*SWITCHES, *OLD_SWITCHES]:
        monkeypatch.setenv(name, "")
    yield monkeypatch
    get_env_var.cache_clear()


def is_tracing():
    get_env_var.cache_clear()
    return tracing_is_enabled()


@pytest.mark.parametrize("switch", SWITCHES)
def test_a_switch_without_key_or_endpoint_sends_nothing(environment, switch):
    environment.setenv(switch, "true")
    environment.setenv("LANGSMITH_API_KEY", " ")
    assert is_tracing()
    stop_traces_without_destination()
    assert not is_tracing()


@pytest.mark.parametrize("destination", DESTINATIONS)
def test_with_a_key_or_endpoint_the_switch_controls_tracing(environment, destination):
    environment.setenv(destination, "something")
    stop_traces_without_destination()
    assert not is_tracing()
    environment.setenv("LANGSMITH_TRACING", "true")
    stop_traces_without_destination()
    assert is_tracing()


@pytest.mark.parametrize("switch", OLD_SWITCHES)
def test_an_old_langchain_switch_does_not_break_chains(environment, switch):
    environment.setenv(switch, "true")
    stop_traces_without_destination()
    get_env_var.cache_clear()
    assert RunnableLambda(str.upper).invoke("question") == "QUESTION"


POSTPONED = """
import sys
from bootstrap.tracing import postpone_client_types
postpone_client_types()
import langchain_core.retrievers
names = [name for name in sys.modules if name.startswith("langsmith.types.")]
assert names == ["langsmith.types.run_select_field"], names
import langsmith.types
assert not hasattr(langsmith.types, "NoSuchType")
from langsmith.types import Run
from langsmith import Client
from langsmith.types.run import Run as Same
assert Run is Same
"""


def test_the_types_of_the_langsmith_client_are_loaded_lazily():
    result = subprocess.run(
        [sys.executable, "-c", POSTPONED], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
