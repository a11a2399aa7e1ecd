"""Clients of the API of isolated processes."""

import time
from contextlib import suppress

import httpx

WAIT_S = 60
TEXTS = {
    "parking.md": "# Parking\n\nVisitors park on level 2. Ask the front desk for a ticket.\n",
    "lockers.md": "# Lockers\n\nLockers on level 3 cost five euros per month.\n",
}


def wait_for(address):
    """Wait until the address answers with the status 200."""
    answer, deadline = None, time.monotonic() + WAIT_S
    while answer is None or answer.status_code != 200:
        assert time.monotonic() < deadline, answer and answer.text
        time.sleep(0.2)
        with suppress(httpx.TransportError):
            answer = httpx.get(address, timeout=10)


def client(port, key):
    headers = {"Authorization": f"Bearer {key}"}
    return httpx.Client(base_url=f"http://127.0.0.1:{port}/api/v1", headers=headers, timeout=WAIT_S)


def upload(api, name):
    """Upload one of the texts, and wait until a worker has imported it."""
    wait_for_import(api, start_upload(api, name, {name: TEXTS[name]}))


def start_upload(api, box, texts):
    """Upload files with these texts by name, and return the id of their import."""
    files = [("files", (name, text.encode())) for name, text in texts.items()]
    answer = api.post("/uploads", params={"box": box}, files=files)
    answer.raise_for_status()
    return answer.json()["queued"]["id"]


def wait_for_import(api, run):
    """Wait until a worker has completed the import."""
    deadline = time.monotonic() + WAIT_S
    while not (state := api.get(f"/imports/{run}").json())["ended"]:
        assert time.monotonic() < deadline, state
        time.sleep(0.5)
    assert state["state"] == "completed", state


def quotes(api, question):
    """The quotes of the answer, all of which must be verified."""
    answer = api.post("/ask", json={"question": question})
    answer.raise_for_status()
    citations = answer.json()["citations"]
    assert {one["state"] for one in citations} == {"verified"}
    return " ".join(one["quote"] for one in citations)
