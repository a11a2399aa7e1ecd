"""Libraries are imported by one thread at a time; without the lock, imports collide at random."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as WaitTimeout

import pytest

from domain import LOCAL_USER, SearchChoice
from domain.errors import InputError
from services.import_lock import LOADING
from tests.fakes.command_line import ROOT

SHORT_WAIT_S, WAIT_S = 0.2, 60


@pytest.mark.parametrize("needs_libraries", ["an index", "a chain", "an agent"])
def test_a_thread_waits_while_another_loads(imported, needs_libraries):
    services = imported(chat_model="m", openai_base_url="http://127.0.0.1:9/v1")
    load = {
        "an index": services.library.open_index,
        "a chain": lambda: services.chat.ask(LOCAL_USER, "Is it?"),
        "an agent": lambda: services.chat.ask(LOCAL_USER, "?", search=SearchChoice(by_agent=True)),
    }[needs_libraries]
    with ThreadPoolExecutor(1) as threads:
        with LOADING:
            future = threads.submit(load)
            with pytest.raises(WaitTimeout):
                future.result(SHORT_WAIT_S)
        future.exception(WAIT_S)


def test_the_model_of_an_agent_is_built_while_holding_the_lock(build_services, monkeypatch):
    def is_free():
        if free := LOADING.acquire(blocking=False):
            LOADING.release()
        return free

    def build(spec):
        with ThreadPoolExecutor(1) as threads:
            states.append(threads.submit(is_free).result(WAIT_S))

    states = []
    monkeypatch.setattr("models.chat_choice.build_chat_model", build)
    services = build_services(chat_model="m", openai_base_url="http://127.0.0.1:9/v1")
    with pytest.raises(InputError):
        services.chat.ask(LOCAL_USER, "?", search=SearchChoice(by_agent=True))
    assert states == [False]


RESTORE_FILTERS_DURING_IMPORT = """
import sys, warnings
import services.import_lock
other = warnings.catch_warnings()

class Amid:
    def find_spec(self, name, path=None, target=None):
        if name == "urllib3.contrib.socks":
            other.__exit__(None, None, None)
            print("put back")

sys.meta_path.insert(0, Amid())
other.__enter__()
import requests
warnings.warn("what others warn of")
"""


def test_warnings_are_suppressed_if_another_thread_restores_the_filters():
    process = subprocess.run(
        [sys.executable, "-c", RESTORE_FILTERS_DURING_IMPORT],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=WAIT_S,
    )
    assert process.stdout == "put back\n"
    assert "SOCKS" not in process.stderr
    assert "what others warn of" in process.stderr
