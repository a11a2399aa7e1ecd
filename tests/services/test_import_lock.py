"""What is loaded by one thread at a time; that two trip over each other is a matter of luck."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet

import pytest

from domain import LOCAL_USER, SearchChoice
from errors import InputError
from services.import_lock import LOADING
from tests.fakes.command_line import ROOT

NOT_YET_S, WAIT_S = 0.2, 60


@pytest.mark.parametrize("needs_libraries", ["an index", "a chain", "an agent"])
def test_a_thread_waits_while_another_loads(build_services, needs_libraries):
    services = build_services(chat_model="m", openai_base_url="http://127.0.0.1:9/v1")
    does = {
        "an index": services.library.open_index,
        "a chain": lambda: services.chat.ask(LOCAL_USER, "Is it?"),
        "an agent": lambda: services.chat.ask(LOCAL_USER, "?", search=SearchChoice(by_agent=True)),
    }[needs_libraries]
    with ThreadPoolExecutor(1) as threads:
        with LOADING:
            asked = threads.submit(does)
            with pytest.raises(NotYet):
                asked.result(NOT_YET_S)
        asked.exception(WAIT_S)


def test_the_model_of_an_agent_is_loaded_while_no_other_thread_loads(build_services, monkeypatch):
    def is_free():
        if free := LOADING.acquire(blocking=False):
            LOADING.release()
        return free

    def build(spec):
        with ThreadPoolExecutor(1) as threads:
            seen.append(threads.submit(is_free).result(WAIT_S))

    seen = []
    monkeypatch.setattr("models.chat_choice.build_chat_model", build)
    services = build_services(chat_model="m", openai_base_url="http://127.0.0.1:9/v1")
    with pytest.raises(InputError):
        services.chat.ask(LOCAL_USER, "?", search=SearchChoice(by_agent=True))
    assert seen == [False]


AMID = """
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


def test_nothing_is_printed_where_another_thread_puts_back_the_filters_of_warnings():
    done = subprocess.run(
        [sys.executable, "-c", AMID], cwd=ROOT, capture_output=True, text=True, timeout=WAIT_S
    )
    assert done.stdout == "put back\n"
    assert "SOCKS" not in done.stderr
    assert "what others warn of" in done.stderr
