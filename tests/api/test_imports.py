"""Imports over the API: list, read, pause, resume, cancel, and follow."""

import json
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise

import anyio
import httpx
import pytest

from api.rest import import_routes
from domain import LOCAL_USER, ImportState, Progress, Stage
from domain.errors import BusyError, NotFoundError
from tests.api.conftest import bearer
from tests.api.serving import events_of, serving
from tests.api.worker import run_queue

API = "/api/v1"


@pytest.fixture
def client(build_client):
    return build_client(embed=True)


@pytest.fixture
def source_id(client):
    return client.get(f"{API}/sources").json()["items"][0]["id"]


@pytest.fixture
def queued_id(client, source_id):
    """The ID of an import that waits for a worker."""
    return client.post(f"{API}/sources/{source_id}/import").json()["id"]


def read_import(client, import_id):
    return client.get(f"{API}/imports/{import_id}").json()


def send(client, import_id, action):
    answer = client.post(f"{API}/imports/{import_id}/{action}")
    assert answer.status_code == 202
    return answer.json()["state"]


def test_a_queued_import_is_listed_and_moves_to_the_history_when_it_ends(
    client, source_id, queued_id
):
    page = client.get(f"{API}/imports").json()
    assert [(one["id"], one["state"]) for one in page["items"]] == [(queued_id, "queued")]
    run_queue(client)
    assert client.get(f"{API}/imports").json() == {"items": [], "total": 0}
    history = client.get(f"{API}/sources/{source_id}/imports", params={"limit": 1}).json()
    assert history["total"] == 2
    assert [one["id"] for one in history["items"]] == [queued_id]


def test_an_import_has_its_counts(client, source_id, handbook):
    (handbook / "lunch.md").write_text("# Lunch\n\nLunch is at noon.\n")
    (handbook / "broken.pdf").write_bytes(b"no PDF")
    import_id = client.post(f"{API}/sources/{source_id}/import").json()["id"]
    assert read_import(client, import_id)["counts"] == {}
    run_queue(client)
    finished = read_import(client, import_id)
    assert finished["counts"] == {"new": 1, "unchanged": 4, "failed": 1}
    assert (finished["state"], finished["passages"], finished["ended"]) == (
        "completed with errors",
        1,
        True,
    )


def test_items_are_listed_page_by_page_and_by_outcome(client, source_id, handbook):
    (handbook / "lunch.md").write_text("# Lunch\n\nLunch is at noon.\n")
    (handbook / "broken.pdf").write_bytes(b"no PDF")
    import_id = client.post(f"{API}/sources/{source_id}/import").json()["id"]
    run_queue(client)

    def list_items(**query):
        page = client.get(f"{API}/imports/{import_id}/items", params=query).json()
        return [one["key"] for one in page["items"]], page["total"]

    all_keys, total = list_items()
    assert (len(all_keys), total) == (6, 6)
    assert list_items(outcomes=["new", "failed"]) == (["broken.pdf", "lunch.md"], 2)
    assert list_items(limit=2, offset=2) == (all_keys[2:4], 6)
    failures = client.get(f"{API}/imports/{import_id}/items?outcomes=failed").json()["items"]
    assert failures[0]["reason"]


def test_an_import_can_be_paused_resumed_and_canceled(client, queued_id):
    assert send(client, queued_id, "pause") == "paused"
    run_queue(client)
    assert send(client, queued_id, "resume") == "queued"
    assert send(client, queued_id, "cancel") == "cancelled"
    assert send(client, queued_id, "resume") == "cancelled"
    assert client.get(f"{API}/imports").json()["total"] == 0


@pytest.fixture
def follow_while_running(client, monkeypatch):
    """Follows an import that starts only once a client follows it, and returns its events."""
    reads, queue = [], client.services.queue
    reload = queue.reload
    monkeypatch.setattr(queue, "expects_worker", lambda: True)
    monkeypatch.setattr(queue, "reload", lambda *arguments: reads.append(1) or reload(*arguments))

    def follow(import_id):
        with ThreadPoolExecutor(1) as executor:
            answer = executor.submit(client.get, f"{API}/imports/{import_id}/events")
            wait_until(lambda: len(reads) > 1)
            run_queue(client)
            response = answer.result(timeout=20)
        assert response.headers["content-type"].startswith("text/event-stream")
        return [(name, json.loads(data)) for name, data in events_of(response.text.splitlines())]

    return follow


def test_an_import_can_be_followed_until_it_ends(queued_id, follow_while_running):
    events = follow_while_running(queued_id)
    assert [name for name, _ in events] == ["progress"] * (len(events) - 1) + ["end"]
    assert {data["id"] for _, data in events} == {queued_id}
    assert (events[0][1]["state"], events[-1][1]["state"]) == ("queued", "completed")
    serialized = [json.dumps(one) for one in events]
    assert len(set(serialized)) == len(serialized)


def read_events(client, import_id):
    answer = client.get(f"{API}/imports/{import_id}/events")
    return [(name, json.loads(data)["state"]) for name, data in events_of(answer.text.splitlines())]


def test_following_a_paused_import_ends_at_once(client, queued_id, monkeypatch):
    monkeypatch.setattr(client.services.queue, "expects_worker", lambda: True)
    client.post(f"{API}/imports/{queued_id}/pause")
    assert read_events(client, queued_id) == [("end", "paused")]


def test_line_separators_in_a_file_name_do_not_split_an_event(client, source_id, handbook):
    name = "half\u2028note\x85.md"
    (handbook / name).write_text("# Half\n\nA note.\n", encoding="utf-8")
    client.post(f"{API}/sources/{source_id}/import")
    run_queue(client)
    body = {"documents": [{"source_id": source_id, "key": name}]}
    [retry] = client.post(f"{API}/failures/retry", json=body).json()["queued"]
    [(_, data)] = events_of(client.get(f"{API}/imports/{retry['id']}/events").text.splitlines())
    assert json.loads(data)["keys"] == [name]


def test_following_an_import_ends_at_once_without_a_worker(client, queued_id):
    assert read_events(client, queued_id) == [("end", "queued")]


def test_a_removal_can_be_followed_to_its_end_although_its_record_is_deleted(
    client, source_id, follow_while_running
):
    import_id = client.delete(f"{API}/sources/{source_id}").json()["id"]
    *_, (name, data) = follow_while_running(import_id)
    assert (name, data["state"]) == ("end", "completed")
    assert client.get(f"{API}/imports/{import_id}").status_code == 404


def events_and_times(*states):
    """The events of an import that each read finds in the next state, and their times."""
    remaining, start = iter(states), time.monotonic()

    def read_state(_job):
        state = next(remaining)
        if isinstance(state, Exception):
            raise state
        return state, state.ended

    async def collect():
        events = import_routes._events(states[0], read_state)
        return [(one.decode(), time.monotonic() - start) async for one in events]

    arrivals = anyio.run(collect)
    return [
        (name, moment)
        for payload, moment in arrivals
        for name, _ in events_of(payload.splitlines())
    ]


@pytest.fixture
def running(client, queued_id):
    """Builds the running import with this number of finished documents."""
    import_run = client.services.queue.get(LOCAL_USER, queued_id)

    def build(done):
        return replace(
            import_run, state=ImportState.RUNNING, progress=Progress(Stage.READING, done, 9)
        )

    return build


def test_progress_is_sent_after_changes_and_at_most_four_times_a_second(running):
    states = [running(1), running(1), running(2), running(3), completed(running(9))]
    events = events_and_times(running(1), *states)
    assert [name for name, _ in events] == ["progress", "progress", "progress", "end"]
    moments = [moment for _, moment in events]
    assert all(after - before >= 0.24 for before, after in pairwise(moments))


def completed(import_run):
    return replace(import_run, state=ImportState.COMPLETED, finished_at=import_run.started_at)


def test_an_import_whose_source_is_removed_meanwhile_ends_with_gone(running):
    events = events_and_times(running(1), NotFoundError("there is no import"))
    assert [name for name, _ in events] == ["progress", "gone"]


def test_a_busy_ledger_ends_with_an_error_and_not_with_gone(running):
    events = events_and_times(running(1), BusyError("try again in a moment"))
    assert [name for name, _ in events] == ["progress", "error"]


def test_the_ledger_is_no_longer_read_after_the_client_disconnects(client, queued_id, monkeypatch):
    reads, queue = [], client.services.queue
    reload = queue.reload
    monkeypatch.setattr(queue, "expects_worker", lambda: True)
    monkeypatch.setattr(queue, "reload", lambda *arguments: reads.append(1) or reload(*arguments))
    with serving(client.services) as address:
        url = f"{address}{API}/imports/{queued_id}/events"
        headers = bearer(client.services)
        with httpx.stream("GET", url, headers=headers, timeout=10) as answer:
            events = events_of(answer.iter_lines())  # an unreferenced generator is closed
            assert next(events)[0] == "progress"
            wait_until(lambda: reads)
        time.sleep(0.6)
        before = len(reads)
        time.sleep(0.6)
        assert len(reads) == before


def wait_until(condition):
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)
