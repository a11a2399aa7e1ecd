"""A browser session without a browser: runs the pages' scripts over the WebSocket."""

import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

WAIT_S = 120


def wait_for_pages(address: str) -> None:
    """Wait until the server at `HOST:PORT` answers."""
    deadline = time.monotonic() + WAIT_S
    while True:
        try:
            with urllib.request.urlopen(f"http://{address}/_stcore/health", timeout=2):
                return
        except OSError:
            assert time.monotonic() < deadline, "the pages did not answer"
            time.sleep(0.2)


def open_start_page(address: str) -> None:
    """Run the start page's script to its end, as opening it in a browser does."""
    from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

    with _start_page(address) as (session, _run):
        *_, last = _messages(session)
    assert last.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY


def open_from_another_site(address: str) -> None:
    """Check that requests from another site's page in the same browser are refused."""
    from websockets.exceptions import InvalidStatus
    from websockets.sync.client import connect

    url = f"ws://{address}/_stcore/stream"
    with suppress(InvalidStatus), connect(url, origin="http://elsewhere.example"):
        raise AssertionError("a web page of another site may use the pages")


def ask(address: str, question: str, words: str) -> None:
    """Submit a question on the start page, and wait until the page shows these words of its answer.

    Raises:
        TimeoutError: The page sent nothing for a while.
    """
    with _start_page(address) as (session, run):
        boxes = [message.delta.new_element.chat_input.id for message in _messages(session)]
        widget = run.rerun_script.widget_states.widgets.add(id=max(boxes))
        widget.chat_input_value.data = question
        session.send(run.SerializeToString())
        while words.encode() not in session.recv(timeout=WAIT_S):
            pass


@contextmanager
def _start_page(address: str) -> Iterator[tuple[Any, Any]]:
    """A session that runs the start page, and the message that made it do so."""
    from streamlit.proto.BackMsg_pb2 import BackMsg
    from websockets.sync.client import connect

    run = BackMsg()
    run.rerun_script.query_string = ""
    url = f"ws://{address}/_stcore/stream"
    with connect(url, subprotocols=["streamlit"], max_size=None, open_timeout=WAIT_S) as session:
        session.send(run.SerializeToString())
        yield session, run


def _messages(session: Any) -> Iterator[Any]:
    """What the server sends until the script has ended."""
    from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

    message = ForwardMsg()
    while message.WhichOneof("type") != "script_finished":
        message = ForwardMsg.FromString(session.recv(timeout=WAIT_S))
        yield message
