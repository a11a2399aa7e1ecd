"""The faults of the fake, as Google's own client handles them."""

import threading
from http.client import HTTPException

import pytest
from googleapiclient.errors import HttpError
from httplib2 import HttpLib2Error

from tests.fakes.faults import Fault, Faults
from tests.fakes.google_drive import DRIVE_FAULTS, DriveFault
from tests.fakes.google_drive_client import client, error, names

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (DriveFault.RATE, (403, "rateLimitExceeded")),
        (DriveFault.USER_RATE, (403, "userRateLimitExceeded")),
        (DriveFault.BAD_GATEWAY, (502, "backendError")),
        (Fault.TOO_MANY, (429, "rateLimitExceeded")),
        (Fault.TOO_MANY_RETRY_AFTER, (429, "rateLimitExceeded")),
        (Fault.FAILED, (500, "internalError")),
        (Fault.UNAVAILABLE, (503, "backendError")),
    ],
)
def test_faults_have_the_messages_of_google(strict, api, fault, expected):
    api.about().get(fields="user").execute()
    strict.faults = Faults(share=1, kinds=[fault])
    assert error(api.about().get(fields="user")) == expected


def test_every_fault_is_transient(strict, api, team):
    strict.upload("a.txt", "x" * 1000, team)
    names(api)
    strict.faults = Faults(1, 0.5, DRIVE_FAULTS, slow_seconds=0)
    successes = 0
    for _ in range(200):
        try:
            successes += names(api) == ["Team", "a.txt"]
        except (HttpError, OSError, ValueError, HTTPException, HttpLib2Error, TypeError):
            continue  # TypeError: the client turns broken JSON into text
    assert successes > 60
    assert set(strict.faults.counts) == set(DRIVE_FAULTS)


def test_each_thread_is_served_with_its_own_client(strict, team):
    strict.upload("a.txt", "x", team)
    results = []
    threads = [
        threading.Thread(target=lambda: results.append(names(client(strict)))) for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert results == [["Team", "a.txt"]] * 6


def test_sign_in_is_never_rate_limited(strict):
    strict.faults = Faults(share=1, kinds=[DriveFault.RATE], at_most=1)
    client(strict).about().get(fields="user").execute()
    assert [request.path for request in strict.requests][:2] == ["/token", "/token"], (
        "the request was repeated"
    )
