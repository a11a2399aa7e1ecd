"""The faults of the fake, as Google's own client meets them."""

import threading
from http.client import HTTPException

import pytest
from googleapiclient.errors import HttpError
from httplib2 import HttpLib2Error

from tests.fakes.faults import Fault, Faults
from tests.fakes.google_drive import DRIVE_FAULTS, DriveFault
from tests.fakes.google_drive_client import client, error, names


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
def test_faults_are_worded_as_google_does(strict, api, fault, expected):
    api.about().get(fields="user").execute()
    strict.faults = Faults(share=1, kinds=[fault])
    assert error(api.about().get(fields="user")) == expected


def test_every_fault_passes_in_the_end(strict, api, team):
    strict.upload("a.txt", "x" * 1000, team)
    names(api)
    strict.faults = Faults(1, 0.5, DRIVE_FAULTS, slow_seconds=0)
    got = 0
    for _ in range(200):
        try:
            got += names(api) == ["Team", "a.txt"]
        except (HttpError, OSError, ValueError, HTTPException, HttpLib2Error, TypeError):
            continue  # TypeError: of broken JSON the client makes a text
    assert got > 60
    assert set(strict.faults.counts) == set(DRIVE_FAULTS)


def test_each_thread_with_a_client_of_its_own_is_served(strict, team):
    strict.upload("a.txt", "x", team)
    seen = []
    threads = [
        threading.Thread(target=lambda: seen.append(names(client(strict)))) for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert seen == [["Team", "a.txt"]] * 6


def test_the_sign_in_is_never_limited_by_a_refusal(strict):
    strict.faults = Faults(share=1, kinds=[DriveFault.RATE], at_most=1)
    client(strict).about().get(fields="user").execute()
    assert [asked.path for asked in strict.requests][:2] == ["/token", "/token"], (
        "it was asked again"
    )
