"""The work that faults interrupt: changes of the folders, and requests to import them."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import cycle

import httpx

from benchmarks.threads import running_threads
from tests.faults.folders import Folder
from tests.faults.topology import Topology

_CHANGE_S = 0.4
_REQUEST_EVERY = 5
"""Changes between two requests to import a folder."""
_LIMIT_S = 10.0


class Work:
    """The sources, each with its folder; `sources` are their ids in the order of the folders."""

    def __init__(self, topology: Topology, folders: list[Folder]) -> None:
        self.folders = folders
        self._headers = {"Authorization": f"Bearer {topology.key}"}
        self._apis = cycle(one.url for one in topology.of("api"))
        self.sources = [self._add(topology.inside(one.path)) for one in folders]
        self._ended = threading.Event()

    def request(self) -> None:
        """Request an import of each source.

        Raises:
            httpx.HTTPError: The API can't be reached or is not able to.
        """
        for source_id in self.sources:
            self._post(f"/sources/{source_id}/import", {}).raise_for_status()

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Change the folders in a thread until the end of the block, and have them imported."""
        with running_threads([self._change], self._ended):
            yield

    def _change(self) -> None:
        number = 0
        while not self._ended.wait(_CHANGE_S):
            self.folders[number % len(self.folders)].change()
            number += 1
            if number % _REQUEST_EVERY == 0:
                with suppress(httpx.HTTPError):  # the next one will be answered
                    self.request()

    def _add(self, path: str) -> str:
        added = self._post("/sources", {"kind": "directory", "fields": {"path": path}})
        return str(added.raise_for_status().json()["source"]["id"])

    def _post(self, path: str, body: dict[str, object]) -> httpx.Response:
        url = f"{next(self._apis)}/api/v1{path}"
        return httpx.post(url, json=body, headers=self._headers, timeout=_LIMIT_S, trust_env=False)
