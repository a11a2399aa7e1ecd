"""Runs the program as a small team does: pages, a worker, and the API, each a process."""

import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from benchmarks.afresh import ROOT, call_afresh, own_environment
from benchmarks.page_opening import free_port, wait_until_healthy

START_S = 300
POLL_S = 0.5
IMPORT_S = 3600
END_S = 30


@dataclass(frozen=True)
class Program:
    """The running program: its addresses, keys, and the processes that were started."""

    api: str
    pages: str
    secrets: Sequence[str]
    """One key per person; the first one may also manage sources."""
    pids: Sequence[int]
    folder: Path


@contextmanager
def running(folder: Path, people: int) -> Iterator[Program]:
    """The program on a new library with the samples, until the end of the block.

    Args:
        folder: Gets the library and the logs of the processes.
        people: How many keys are created.
    """
    data = folder / "data"
    secrets = call_afresh("benchmarks.load.program:create_keys", data=str(data), people=people)
    pages, api = free_port(), free_port()
    with ExitStack() as stack:
        pids = [
            stack.enter_context(_process([name, "--port", port, "--data-dir", data], folder))
            for name, port in (("serve", pages), ("api", api))
        ]
        for health in (f"{api}/readyz", f"{pages}/_stcore/health"):
            wait_until_healthy(f"http://127.0.0.1:{health}", START_S)
        program = Program(
            f"http://127.0.0.1:{api}/api/v1", f"127.0.0.1:{pages}", secrets, pids, folder
        )
        with Manager(program) as manager:
            manager.wait_for_imports()
        yield program


def create_keys(data: str, people: int) -> list[str]:
    """The secrets of new API keys, each of another user; called in a subprocess."""
    from bootstrap import build_services
    from domain import LOCAL_USER, ApiScope, Principal
    from settings import Settings

    Path(data).mkdir(parents=True)
    keys = build_services(Settings(data_dir=Path(data), _env_file=None)).api_keys
    return [
        keys.create(LOCAL_USER, Principal(f"person {n}"), "load", list(ApiScope)).secret
        for n in range(people)
    ]


@contextmanager
def _process(arguments: Sequence[Any], folder: Path) -> Iterator[int]:
    command = [sys.executable, "cli.py", *map(str, arguments)]
    log = folder / f"{arguments[0]}.log"
    with log.open("w", encoding="utf-8") as output:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=own_environment(),
            stdout=output,
            stderr=output,
        )
    try:
        yield process.pid
        if process.poll() is not None:
            raise SystemExit(f"{arguments[0]} has ended: {log.read_text(encoding='utf-8')}")
    finally:
        process.terminate()
        process.wait(timeout=END_S)


class Manager:
    """Manages sources over the API."""

    def __init__(self, program: Program) -> None:
        headers = {"Authorization": f"Bearer {program.secrets[0]}"}
        self.http = httpx.Client(base_url=program.api, headers=headers, timeout=60)

    def __enter__(self) -> "Manager":
        return self

    def __exit__(self, *_error: object) -> None:
        self.http.close()

    def call(self, method: str, path: str, **request: Any) -> Any:
        """The response as data; an error ends the measurement."""
        response = self.http.request(method, path, **request)
        if response.is_error:
            raise SystemExit(f"{method} {path}: {response.text}")
        return response.json() if response.content else None

    def add_folder(self, folder: Path) -> str:
        """Add a folder as a source; returns its id."""
        body = {"kind": "directory", "fields": {"path": str(folder)}}
        source_id: str = self.call("POST", "/sources", json=body)["source"]["id"]
        return source_id

    def queue_import(self, source_id: str) -> str:
        """Queue an import of the source; returns its id."""
        body = {"confirm_removals": True}
        import_id: str = self.call("POST", f"/sources/{source_id}/import", json=body)["id"]
        return import_id

    def run(self, import_id: str) -> dict[str, Any]:
        """The record of an import."""
        run: dict[str, Any] = self.call("GET", f"/imports/{import_id}")
        return run

    def wait_for(self, import_id: str) -> dict[str, Any]:
        """The record of an import after its end."""
        deadline = time.monotonic() + IMPORT_S
        while not (run := self.run(import_id))["ended"]:
            if time.monotonic() > deadline:
                raise SystemExit(f"the import has not ended within {IMPORT_S} s: {run}")
            time.sleep(POLL_S)
        if run["state"] != "completed":
            raise SystemExit(f"the import ended as {run['state']}: {run}")
        return run

    def wait_for_imports(self) -> None:
        """Wait until no import is queued or running."""
        for run in self.call("GET", "/imports")["items"]:
            self.wait_for(run["id"])
