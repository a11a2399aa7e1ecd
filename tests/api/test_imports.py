"""Imports over the API: listed, read, steered, and followed as they go."""

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
from errors import BusyError, NotFoundError
from tests.api.conftest import bearer
from tests.api.serving import events_of, serving
from tests.api.working import work_off

API = "/api/v1"


@pytest.fixture
def client(call):
    return call(embed=True)


@pytest.fixture
def source_id(client):
    return client.get(f"{API}/sources").json()["items"][0]["id"]


@pytest.fixture
def queued(client, source_id):
    """The id of an import that waits for a worker."""
    return client.post(f"{API}/sources/{source_id}/import").json()["id"]


def job_of(client, import_id):
    return client.get(f"{API}/imports/{import_id}").json()


def steered(client, import_id, what):
    answer = client.post(f"{API}/imports/{import_id}/{what}")
    assert answer.status_code == 202
    return answer.json()["state"]


def test_what_waits_is_listed_until_it_is_done_and_is_history_then(client, source_id, queued):
    listed = client.get(f"{API}/imports").json()
    assert [(one["id"], one["state"]) for one in listed["items"]] == [(queued, "queued")]
    work_off(client)
    assert client.get(f"{API}/imports").json() == {"items": [], "total": 0}
    history = client.get(f"{API}/sources/{source_id}/imports", params={"limit": 1}).json()
    assert history["total"] == 2
    assert [one["id"] for one in history["items"]] == [queued]


def test_an_import_is_read_with_its_figures(client, source_id, handbook):
    (handbook / "lunch.md").write_text("# Lunch\n\nLunch is at noon.\n")
    (handbook / "broken.pdf").write_bytes(b"no PDF")
    job = client.post(f"{API}/sources/{source_id}/import").json()["id"]
    assert job_of(client, job)["counts"] == {}
    work_off(client)
    after = job_of(client, job)
    assert after["counts"] == {"new": 1, "unchanged": 4, "failed": 1}
    assert (after["state"], after["passages"], after["ended"]) == ("completed with errors", 1, True)


def test_items_are_listed_page_by_page_and_by_outcome(client, source_id, handbook):
    (handbook / "lunch.md").write_text("# Lunch\n\nLunch is at noon.\n")
    (handbook / "broken.pdf").write_bytes(b"no PDF")
    job = client.post(f"{API}/sources/{source_id}/import").json()["id"]
    work_off(client)

    def listed(**query):
        found = client.get(f"{API}/imports/{job}/items", params=query).json()
        return [one["key"] for one in found["items"]], found["total"]

    every, total = listed()
    assert (len(every), total) == (6, 6)
    assert listed(outcomes=["new", "failed"]) == (["broken.pdf", "lunch.md"], 2)
    assert listed(limit=2, offset=2) == (every[2:4], 6)
    failed = client.get(f"{API}/imports/{job}/items?outcomes=failed").json()["items"]
    assert failed[0]["reason"]


def test_an_import_is_paused_resumed_and_cancelled(client, queued):
    assert steered(client, queued, "pause") == "paused"
    work_off(client)
    assert steered(client, queued, "resume") == "queued"
    assert steered(client, queued, "cancel") == "cancelled"
    assert steered(client, queued, "resume") == "cancelled"
    assert client.get(f"{API}/imports").json()["total"] == 0


@pytest.fixture
def worked_while_followed(client, monkeypatch):
    """The events of an import, whose work is begun only once somebody follows it."""
    looks, queue = [], client.services.queue
    again = queue.refreshed
    monkeypatch.setattr(queue, "expects_worker", lambda: True)
    monkeypatch.setattr(queue, "refreshed", lambda *asked: looks.append(1) or again(*asked))

    def follow(import_id):
        with ThreadPoolExecutor(1) as beside:
            answer = beside.submit(client.get, f"{API}/imports/{import_id}/events")
            wait_until(lambda: len(looks) > 1)
            work_off(client)
            found = answer.result(timeout=20)
        assert found.headers["content-type"].startswith("text/event-stream")
        return [(name, json.loads(told)) for name, told in events_of(found.text.splitlines())]

    return follow


def test_an_import_is_followed_until_it_has_ended(queued, worked_while_followed):
    events = worked_while_followed(queued)
    assert [name for name, _ in events] == ["progress"] * (len(events) - 1) + ["end"]
    assert {told["id"] for _, told in events} == {queued}
    assert (events[0][1]["state"], events[-1][1]["state"]) == ("queued", "completed")
    told = [json.dumps(one) for one in events]
    assert len(set(told)) == len(told)


def events_at_once(client, import_id):
    answer = client.get(f"{API}/imports/{import_id}/events")
    return [(name, json.loads(told)["state"]) for name, told in events_of(answer.text.splitlines())]


def test_an_import_that_waits_for_a_person_is_followed_no_longer(client, queued, monkeypatch):
    monkeypatch.setattr(client.services.queue, "expects_worker", lambda: True)
    client.post(f"{API}/imports/{queued}/pause")
    assert events_at_once(client, queued) == [("end", "paused")]


def test_a_file_name_that_some_clients_take_for_two_lines_breaks_no_event(
    client, source_id, handbook
):
    name = "half\u2028note\x85.md"
    (handbook / name).write_text("# Half\n\nA note.\n", encoding="utf-8")
    client.post(f"{API}/sources/{source_id}/import")
    work_off(client)
    wanted = {"documents": [{"source_id": source_id, "key": name}]}
    [job] = client.post(f"{API}/failures/retry", json=wanted).json()["queued"]
    [(_, told)] = events_of(client.get(f"{API}/imports/{job['id']}/events").text.splitlines())
    assert json.loads(told)["keys"] == [name]


def test_an_import_that_no_worker_is_there_to_do_is_followed_no_longer(client, queued):
    assert events_at_once(client, queued) == [("end", "queued")]


def test_a_removal_is_followed_to_its_end_though_its_record_goes_with_it(
    client, source_id, worked_while_followed
):
    job = client.delete(f"{API}/sources/{source_id}").json()["id"]
    *_, (name, told) = worked_while_followed(job)
    assert (name, told["state"]) == ("end", "completed")
    assert client.get(f"{API}/imports/{job}").status_code == 404


def followed(*looks):
    """The events of an import that is seen so, one look after another, and when they came."""
    seen, begun = iter(looks), time.monotonic()

    def look(_job):
        found = next(seen)
        if isinstance(found, Exception):
            raise found
        return found, found.ended

    async def collect():
        events = import_routes._events(looks[0], look)
        return [(one.decode(), time.monotonic() - begun) async for one in events]

    came = anyio.run(collect)
    return [(name, moment) for sent, moment in came for name, _ in events_of(sent.splitlines())]


@pytest.fixture
def at_work(client, queued):
    """Builds the import as it is at work on some document."""
    job = client.services.queue.get(LOCAL_USER, queued)

    def build(done):
        return replace(job, state=ImportState.RUNNING, progress=Progress(Stage.READING, done, 9))

    return build


def test_progress_is_told_when_something_has_changed_and_at_most_four_times_a_second(at_work):
    looks = [at_work(1), at_work(1), at_work(2), at_work(3), ended(at_work(9))]
    events = followed(at_work(1), *looks)
    assert [name for name, _ in events] == ["progress", "progress", "progress", "end"]
    moments = [moment for _, moment in events]
    assert all(after - before >= 0.24 for before, after in pairwise(moments))


def ended(job):
    return replace(job, state=ImportState.COMPLETED, finished_at=job.started_at)


def test_an_import_whose_source_is_removed_meanwhile_is_told_as_gone(at_work):
    events = followed(at_work(1), NotFoundError("there is no import"))
    assert [name for name, _ in events] == ["progress", "gone"]


def test_a_ledger_that_is_busy_is_told_as_an_error_and_not_as_a_source_that_is_gone(at_work):
    events = followed(at_work(1), BusyError("try again in a moment"))
    assert [name for name, _ in events] == ["progress", "error"]


def test_whoever_stops_following_costs_nothing_more(client, queued, monkeypatch):
    looks, queue = [], client.services.queue
    again = queue.refreshed
    monkeypatch.setattr(queue, "expects_worker", lambda: True)
    monkeypatch.setattr(queue, "refreshed", lambda *asked: looks.append(1) or again(*asked))
    with serving(client.services) as address:
        url = f"{address}{API}/imports/{queued}/events"
        headers = bearer(client.services)
        with httpx.stream("GET", url, headers=headers, timeout=10) as answer:
            events = events_of(answer.iter_lines())  # what nobody holds is closed
            assert next(events)[0] == "progress"
            wait_until(lambda: looks)
        time.sleep(0.6)
        before = len(looks)
        time.sleep(0.6)
        assert len(looks) == before


def wait_until(holds):
    end = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)
