"""Events during the run of a page, such as a press of Stop, and what it draws meanwhile."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.testing.v1 import app_test
from streamlit.testing.v1.local_script_runner import LocalScriptRunner

Event = Callable[[LocalScriptRunner], object]


@contextmanager
def event_during_progress(text: str, event: Event) -> Iterator[None]:
    """Let an event happen whenever a page has drawn a progress bar whose label contains this.

    The event receives the runner of the page.
    """

    class Runner(LocalScriptRunner):
        def _enqueue_forward_msg(self, msg: ForwardMsg) -> None:
            super()._enqueue_forward_msg(msg)
            if text in msg.delta.new_element.progress.text:
                event(self)

    with _runner(Runner):
        yield


@contextmanager
def html_log() -> Iterator[list[str]]:
    """All HTML that a page draws, in order, also what it replaces during its run."""
    log: list[str] = []

    class Runner(LocalScriptRunner):
        def _enqueue_forward_msg(self, msg: ForwardMsg) -> None:
            super()._enqueue_forward_msg(msg)
            log.append(msg.delta.new_element.html.body)

    with _runner(Runner):
        yield log


@contextmanager
def _runner(runner: type[LocalScriptRunner]) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(app_test, "LocalScriptRunner", runner)
        yield
