"""A real S3-compatible server (Versity S3 Gateway) on loopback, in a temporary folder."""

import os
import shutil
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests.servers import free_port

VERSION = "v1.8.0"  # that of `make s3`
ACCESS_KEY, SECRET_KEY = "footnote", "not-a-real-secret"
REGION = "eu-central-1"
_CACHE = Path("~/.cache/footnote-s3", VERSION).expanduser()


def program() -> str | None:
    """The server's program; None if it is missing."""
    return shutil.which("versitygw", path=f"{_CACHE}{os.pathsep}{os.environ.get('PATH', '')}")


@dataclass(frozen=True)
class Server:
    """A running server; buckets are created with `bucket`."""

    port: int

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of the server, without the bucket."""
        return {
            "s3_endpoint": self.endpoint,
            "s3_region": REGION,
            "s3_access_key": ACCESS_KEY,
            "s3_secret_key": SECRET_KEY,
        }

    def at(self, port: int) -> "Server":
        """The server behind a proxy on this port."""
        return replace(self, port=port)

    def client(self) -> Any:
        """A client that is not Footnote's."""
        from botocore.session import get_session

        keys = {"aws_access_key_id": ACCESS_KEY, "aws_secret_access_key": SECRET_KEY}
        session = get_session()
        return session.create_client("s3", REGION, endpoint_url=self.endpoint, **keys)


@contextmanager
def server(folder: Path | None = None, *options: str) -> Iterator[Server]:
    """A new server; `folder` is that of an earlier one, with its buckets."""
    with tempfile.TemporaryDirectory(prefix="footnote-s3-") as name:
        place = folder or Path(name)
        for part in ("buckets", "metadata", "iam"):
            (place / part).mkdir(exist_ok=True)
        running = Server(free_port())
        with (place / "log").open("w", encoding="utf-8") as log:
            process = subprocess.Popen(
                _command(running, place, options), stdout=log, stderr=log, env=_environment()
            )
            try:
                _wait(running, process, place / "log")
                yield running
            finally:
                process.terminate()
                process.wait(10)


def _command(running: Server, place: Path, options: tuple[str, ...]) -> list[str]:
    path = program()
    assert path is not None
    address = ["--port", f"127.0.0.1:{running.port}", "--region", REGION, "--health", "/health"]
    return [
        path,
        *address,
        *("--quiet", "--keep-alive", "--iam-dir", str(place / "iam"), *options),
        *("posix", "--sidecar", str(place / "metadata"), str(place / "buckets")),
    ]


def _environment() -> dict[str, str]:
    return {"ROOT_ACCESS_KEY": ACCESS_KEY, "ROOT_SECRET_KEY": SECRET_KEY, "GOMAXPROCS": "2"}


def _wait(running: Server, process: "subprocess.Popen[bytes]", log: Path) -> None:
    until = time.monotonic() + 30
    while time.monotonic() < until and process.poll() is None:
        try:
            urllib.request.urlopen(f"{running.endpoint}/health", timeout=5).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise RuntimeError(f"the S3 server did not start: {log.read_text(encoding='utf-8')}")
