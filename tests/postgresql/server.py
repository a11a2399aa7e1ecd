"""A real PostgreSQL server on loopback, in a temporary folder, for the length of a `with` block.

It ends with the process, even if that is killed.
"""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg

from tests.servers import free_port

USER = "footnote"
PASSWORD = "not a secret: ü@/"
_SYSTEM_USER = "postgres"  # of Debian's package, because the server refuses to run as root
_START_S = 60
_SETTINGS = {
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "max_connections": "200",
    "shared_buffers": "64MB",
    "listen_addresses": "127.0.0.1",
    "autovacuum": "off",
    "lc_messages": "C",
}


def programs() -> Path | None:
    """The folder of `initdb` and `postgres`, of the newest version; None if there is none."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=_version)
    on_path = shutil.which("initdb")
    return found[-1].parent if found else Path(on_path).resolve().parent if on_path else None


def _version(initdb: Path) -> int:
    return int(initdb.parents[1].name)


def missing_programs() -> str:
    """Why no server can be started; "" if one can."""
    if programs() is None:
        return "PostgreSQL is missing (apt-get install postgresql)"
    if os.geteuid() == 0 and shutil.which("setpriv") is None:
        return "PostgreSQL refuses to run as root, and setpriv is missing (util-linux)"
    return ""


@dataclass(frozen=True)
class Server:
    """A running server; its superuser signs in with a password."""

    port: int
    folder: Path

    def url(self, database: str, user: str = USER, password: str = PASSWORD) -> str:
        """The address of a database, in the form of FOOTNOTE_DATABASE_URL."""
        from sqlalchemy import URL

        address = URL.create("postgresql", user, password, "127.0.0.1", self.port, database)
        return address.render_as_string(hide_password=False)

    def execute(self, statement: str, database: str = "postgres") -> list[tuple[object, ...]]:
        """The rows of a statement, executed by the superuser outside a transaction."""
        address = {"host": "127.0.0.1", "port": self.port, "user": USER, "password": PASSWORD}
        with psycopg.connect(**address, dbname=database, autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def wait(self) -> None:
        """Wait until the server accepts connections."""
        end = time.monotonic() + _START_S
        while True:
            try:
                self.execute("SELECT 1")
            except psycopg.OperationalError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.05)
            else:
                return

    def start(self) -> None:
        """Start the server again after `stop`; from now on, it does not end with the tests."""
        self._control("start", "-l", str(self.folder / "later.log"), "-o", f"-p {self.port}")

    def stop(self, mode: str = "fast") -> None:
        """Stop the server and wait for its end."""
        self._control("stop", "-m", mode)

    def _control(self, *arguments: str) -> None:
        _run(
            [_program("pg_ctl"), *arguments, "-s", "-w", "-D", str(self.folder / "data")],
            self.folder,
        )


@contextmanager
def server() -> Iterator[Server]:
    """A new server."""
    with tempfile.TemporaryDirectory(prefix="footnote-postgresql-") as name:
        folder = Path(name)
        if os.geteuid() == 0:
            shutil.chown(folder, _SYSTEM_USER)
        running = Server(free_port(), folder)
        _create(running)
        with (folder / "log").open("w") as log:
            command = [_program("postgres"), "-D", str(folder / "data"), "-p", str(running.port)]
            process = subprocess.Popen(_as_user(command, ends_with_parent=True), stderr=log)
        try:
            running.wait()
            yield running
        finally:
            if (folder / "data" / "postmaster.pid").exists():
                running.stop("immediate")
            process.wait()


def _create(running: Server) -> None:
    password = running.folder / "password"
    password.write_text(PASSWORD, encoding="utf-8")
    password.chmod(0o644)
    data = running.folder / "data"
    options = ["--no-sync", "--username", USER, "--auth=scram-sha-256", "--encoding=UTF8"]
    # The order of a language, which the columns of the ledger must not follow.
    options += ["--locale=C.UTF-8", "--locale-provider=icu", "--icu-locale=en-US"]
    options += [f"--pwfile={password}", "-D", str(data)]
    _run([_program("initdb"), *options], running.folder)
    settings = {**_SETTINGS, "unix_socket_directories": str(running.folder)}
    lines = [f"{name} = '{value}'" for name, value in settings.items()]
    with (data / "postgresql.conf").open("a", encoding="utf-8") as file:
        file.write("\n".join(["", *lines, ""]))


def _program(name: str) -> str:
    folder = programs()
    assert folder is not None
    return str(folder / name)


def _as_user(command: Sequence[str], *, ends_with_parent: bool = False) -> list[str]:
    """The command as a user that is not root."""
    options = ["--pdeathsig=INT"] if ends_with_parent else []
    if os.geteuid() == 0:
        options += [f"--reuid={_SYSTEM_USER}", f"--regid={_SYSTEM_USER}", "--clear-groups"]
    return [*(["setpriv", *options] if options and shutil.which("setpriv") else []), *command]


def _run(command: Sequence[str], folder: Path) -> None:
    command = _as_user(command)
    # Its output is a file, because the server would keep a pipe open.
    with (folder / "output").open("w+", encoding="utf-8") as output:
        ended = subprocess.run(command, cwd=folder, stdout=output, stderr=output, check=False)
        if ended.returncode:
            output.seek(0)
            raise RuntimeError(f"{command} failed: {output.read()}")
