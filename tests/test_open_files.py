"""Browser sessions that have ended and indexes that were replaced leave no open files."""

import sys
import time
from pathlib import Path

import pytest

from benchmarks.processes import LOOPS, usage_by_role
from storage.index_stores import IndexStores
from storage.ledger.index_store import IndexSpec, IndexState, new_index
from tests.fakes.models import HashingEmbeddings
from tests.fakes.page_session import open_start_page, wait_for_pages
from tests.servers import served

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there is no /proc")

SPARE = 2
"""Files that may be open for a moment."""
KEPT_S = 1
"""How long the pages keep a closed session, in seconds; Streamlit's default is 120."""
SESSIONS = 12


def open_and_close(address, sessions):
    """Run the start page in that many sessions, then wait until the pages drop closed ones."""
    for _ in range(sessions):
        open_start_page(address)
    for _ in range(2):  # a session is dropped when a later one ends
        time.sleep(KEPT_S + 0.1)
        open_start_page(address)


def usage_of(server):
    (usage,) = usage_by_role([server.pid]).values()
    return usage


@pytest.mark.slow
def test_closed_browser_sessions_leave_no_open_files(line):
    kept = {"STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL": str(KEPT_S)}
    with served("pages", line, **kept) as server:
        address = f"localhost:{server.port}"
        wait_for_pages(address)
        open_and_close(address, SESSIONS)
        before = usage_of(server)
        open_and_close(address, 2 * SESSIONS)
        after = usage_of(server)
    assert after.other_files <= before.other_files + SPARE
    assert after.files[LOOPS] <= before.files[LOOPS] + SPARE


def test_replaced_indexes_leave_no_open_files(tmp_path):
    stores = IndexStores(tmp_path, lambda _: HashingEmbeddings())
    counts = [use_and_replace(stores) for _ in range(6)]
    assert counts[-1] <= counts[1]


def use_and_replace(stores):
    """Open and search a new index, which replaces the one before; the files open then."""
    index = new_index(IndexSpec({"name": "a model"}, "a model", "1", 100, 10), IndexState.BUILDING)
    replaced = list(stores._open.values())
    store = stores.create(index)
    store.passages.add_texts(["some words"], ids=["a"])
    store.keywords.add([("a", "some words")])
    assert store.passages.similarity_search("some words", k=1)
    assert store.keywords.search("words", 1)
    for old in replaced:
        stores.delete(old.index)
    return len(list(Path("/proc/self/fd").iterdir()))
