import json
import socket
import threading
from http.client import HTTPConnection, IncompleteRead, RemoteDisconnected
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes.faults import TRANSIENT_FAULTS, Fault, Faults
from tests.fakes.loopback import Loopback, RefusedError, json_answer


class Echo(Loopback):
    def answer(self, request):
        if request.path == "/unknown":
            raise RefusedError("there is no such path")
        return json_answer(200, {"path": request.path, "params": request.params})


@pytest.fixture
def echo():
    with Echo() as fake:
        yield fake
    assert fake.refused in ([], ["GET /unknown: there is no such path"])


def get(fake, path="/a?b=c%20d"):
    connection = HTTPConnection(urlsplit(fake.origin).netloc, timeout=5)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()
    finally:
        connection.close()


def test_a_request_is_answered_and_logged(echo):
    status, _, body = get(echo)
    assert (status, json.loads(body)) == (200, {"path": "/a", "params": {"b": "c d"}})
    [request] = echo.requests
    assert (request.method, request.path, request.params, request.status) == (
        "GET",
        "/a",
        {"b": "c d"},
        200,
    )
    assert echo.counts() == {"/a": 1}


def test_a_refused_request_gets_400_and_is_recorded(echo):
    assert get(echo, "/unknown")[0] == 400
    assert echo.refused == ["GET /unknown: there is no such path"]


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        (Fault.TOO_MANY, 429),
        (Fault.TOO_MANY_RETRY_AFTER, 429),
        (Fault.FAILED, 500),
        (Fault.UNAVAILABLE, 503),
        (Fault.SLOW, 200),
        (Fault.LOGIN_PAGE, 200),
        (Fault.REFUSED, 400),
        (Fault.BROKEN_JSON, 200),
    ],
)
def test_each_fault_behaves_as_named(echo, fault, status):
    echo.faults = Faults(share=1, kinds=[fault], retry_after=7)
    answer = get(echo)
    assert answer[0] == status
    assert answer[1].get("Retry-After") == ("7" if fault is Fault.TOO_MANY_RETRY_AFTER else None)
    if fault is Fault.LOGIN_PAGE:
        assert b"Log in" in answer[2]
    if fault is Fault.BROKEN_JSON:
        with pytest.raises(json.JSONDecodeError):
            json.loads(answer[2])
    assert echo.faults.counts == {fault: 1}


def test_a_connection_closes_before_or_during_a_response(echo):
    echo.faults = Faults(share=1, kinds=[Fault.CLOSED], in_a_row=1)
    with pytest.raises(RemoteDisconnected):
        get(echo)
    echo.faults = Faults(share=1, kinds=[Fault.TRUNCATED], in_a_row=1)
    with pytest.raises(IncompleteRead):
        get(echo)
    assert get(echo)[0] == 200
    assert [request.status for request in echo.requests] == [Fault.CLOSED, Fault.TRUNCATED, 200]


@given(
    st.integers(),
    st.floats(0.1, 1),
    st.integers(1, 4),
    st.lists(st.sampled_from("abc"), max_size=60),
)
def test_consecutive_failures_of_a_request_are_limited(seed, share, in_a_row, requests):
    faults = Faults(seed, share, in_a_row=in_a_row)
    draws = [(request, faults.draw(request)) for request in requests]
    for name in "abc":
        row = [fault for request, fault in draws if request == name]
        assert all(None in row[n : n + in_a_row + 1] for n in range(len(row) - in_a_row))
    assert faults.counts.total() == sum(fault is not None for _, fault in draws)
    again = Faults(seed, share, in_a_row=in_a_row)
    assert [again.draw(request) for request, _ in draws] == [fault for _, fault in draws]


def test_faults_have_the_requested_rate_and_include_every_kind():
    faults = Faults(3, share=0.2, in_a_row=100)
    draws = [faults.draw(f"GET /{n}") for n in range(5000)]
    assert 0.17 < sum(fault is not None for fault in draws) / len(draws) < 0.23
    assert set(faults.counts) == set(TRANSIENT_FAULTS)


def test_faults_stop_at_their_limit_and_affect_only_selected_requests():
    faults = Faults(share=1, at_most=2, only=lambda request: "/content" in request)
    draws = [faults.draw(path) for path in ("/space", "/content/1", "/content/2", "/content/3")]
    assert [fault is not None for fault in draws] == [False, True, True, False]


def test_an_unplugged_server_comes_back_on_the_same_port(echo):
    origin = echo.origin
    idle = socket.create_connection((urlsplit(origin).hostname, urlsplit(origin).port), timeout=5)
    get(echo)
    echo.unplug()
    assert idle.recv(1) == b"", "an open connection is cut"
    idle.close()
    with pytest.raises(ConnectionRefusedError):
        get(echo)
    echo.plug()
    assert echo.origin == origin
    assert get(echo)[0] == 200


def test_the_network_can_fail_in_the_middle_of_a_run(echo):
    echo.unplug_after = 2
    assert [get(echo)[0] for _ in range(2)] == [200, 200]
    with pytest.raises(OSError):
        get(echo)
    with pytest.raises(ConnectionRefusedError):
        get(echo)


def test_many_clients_are_served_concurrently(echo):
    statuses = []
    threads = [threading.Thread(target=lambda: statuses.append(get(echo)[0])) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert statuses == [200] * 20
