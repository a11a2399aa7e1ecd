"""Cost per request of checking Host and Origin and adding security headers.

The same application answers with and without the pages' guard, in turns: called directly as a
server would, and over HTTP on loopback with one keep-alive connection each.
"""

import asyncio
import http.client
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from statistics import median
from typing import Any

import uvicorn

from benchmarks.measure import Report, Times, milliseconds_of
from domain.web.host_guard import App, HostGuard

SMALL = {"requests": 50, "calls": 2_000}
BOUND_MS = 0.2
BATCH = 100
HOST, ORIGIN = "docs.example.com:8501", "http://docs.example.com:8501"
OTHERS = ("evil.example", "http://evil.example")
BROWSER: Mapping[str, str] = {
    "Connection": "keep-alive",
    "Accept": "*/*",
    "Accept-Encoding": "gzip, deflate, br, zstd",
    "Accept-Language": "en-GB,en;q=0.9,ko;q=0.8",
    "Cache-Control": "no-cache",
    "Cookie": "_streamlit_xsrf=2|4c1d0a27|0f6d2f4a1cbf5f1e7c7b3c5e|1764000000",
    "Referer": f"{ORIGIN}/library",
    "Sec-Fetch-Dest": "empty",
    "Sec-Fetch-Mode": "cors",
    "Sec-Fetch-Site": "same-origin",
    "User-Agent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0 Safari/537.36",
}
"""What a browser sends beside Host and Origin."""


def measure(*, cache: str, requests: int = 5_000, calls: int = 50_000) -> Report:  # noqa: ARG001
    report = Report("Checking hosts", f"{calls:,} calls, {requests:,} requests over HTTP, in turns")
    cost = _call_costs(calls)
    over_http = _request_times(requests)
    added = _added(over_http["with"].milliseconds, over_http["without"].milliseconds)
    report.ratio("of the bound of 0.2 ms: the check, called", 100 * cost["allowed"] / BOUND_MS, "%")
    report.ratio("of the bound of 0.2 ms: added over HTTP", 100 * added / BOUND_MS, "%")
    report.add("the check and its headers, called", cost["allowed"], "ms")
    report.add("a host that is refused, called", cost["refused"], "ms")
    report.add("a request over HTTP without the check, p50", over_http["without"].p50, "ms")
    report.add("a request over HTTP with the check, p50", over_http["with"].p50, "ms")
    report.add("added over HTTP", added, "ms")
    return report


def guarded(app: App) -> App:
    """The application behind the pages' guard, for a server with a configured name."""
    from domain.web.host_guard import SAFE_HEADERS
    from domain.web.host_policy import HostPolicy, parse_hosts
    from ui.shared.server_middleware import page_security_policy

    headers = {**SAFE_HEADERS, "Content-Security-Policy": page_security_policy()}
    policy = HostPolicy(parse_hosts([HOST.partition(":")[0]], "hosts"))
    return HostGuard(app, policy, headers, probes=["/_stcore/health"])


async def answer(scope: Any, receive: Any, send: Any) -> None:
    """A minimal application."""
    if scope["type"] == "lifespan":
        while (await receive())["type"] != "lifespan.shutdown":
            await send({"type": "lifespan.startup.complete"})
        await send({"type": "lifespan.shutdown.complete"})
        return
    headers = [(b"content-type", b"text/plain"), (b"content-length", b"2")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"ok"})


def _call_costs(calls: int) -> dict[str, float]:
    """Milliseconds that the guard adds to an accepted and to a refused request.

    A batch of calls is compared with the batch without the guard in the same round.
    """
    check, allowed = guarded(answer), _scope(HOST, ORIGIN)
    contenders = {
        "without": (answer, allowed),
        "allowed": (check, allowed),
        "refused": (check, _scope(*OTHERS)),
    }
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(max(2, calls // BATCH)):
        for name, (app, scope) in contenders.items():
            times[name].append(milliseconds_of(asyncio.run, _call(app, scope)) / BATCH)
    return {name: _added(each, times["without"]) for name, each in times.items()}


def _added(times: Sequence[float], without: Sequence[float]) -> float:
    return median(one - bare for one, bare in zip(times, without, strict=True))


def _scope(host: str, origin: str) -> dict[str, Any]:
    sent = {"Host": host, "Origin": origin, **BROWSER}
    headers = [(name.lower().encode(), text.encode()) for name, text in sent.items()]
    return {"type": "http", "path": "/_stcore/host-config", "headers": headers}


async def _call(app: App, scope: dict[str, Any]) -> None:
    async def nowhere(_message: Any = None) -> dict[str, Any]:
        return {}

    for _ in range(BATCH):
        await app(scope, nowhere, nowhere)


def _request_times(requests: int) -> dict[str, Times]:
    with ExitStack() as stack:
        ports = {
            "without": stack.enter_context(_served(answer)),
            "with": stack.enter_context(_served(guarded(answer))),
        }
        clients = {
            name: http.client.HTTPConnection("127.0.0.1", port) for name, port in ports.items()
        }
        times: dict[str, list[float]] = {name: [] for name in clients}
        for _ in range(requests):
            for name, client in clients.items():
                times[name].append(milliseconds_of(_request, client))
    return {name: Times(each) for name, each in times.items()}


def _request(client: http.client.HTTPConnection) -> None:
    client.request("GET", "/", headers={"Host": HOST, "Origin": ORIGIN, **BROWSER})
    response = client.getresponse()
    if response.status != 200:
        raise SystemExit(f"the server refused what it should answer ({response.status})")
    response.read()


@contextmanager
def _served(app: App) -> Iterator[int]:
    """The port of the application, served by a thread of this process."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        thread.join()
