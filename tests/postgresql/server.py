"""A real PostgreSQL server on loopback, in a temporary folder, for the length of a `with` block."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg

USER = "footnote"
PASSWORD = "not a secret: ü@/"
_SYSTEM_USER = "postgres"  # of Debian's package, because the server refuses to run as root
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

    def control(self, *arguments: str) -> None:
        """Run pg_ctl, such as `stop` or `restart`, and wait for it."""
        _run([_program("pg_ctl"), *arguments, "-w", "-D", str(self.folder / "data")], self.folder)


@contextmanager
def server(settings: dict[str, str] | None = None) -> Iterator[Server]:
    """A new server; `settings` are added to postgresql.conf."""
    with tempfile.TemporaryDirectory(prefix="footnote-postgresql-") as name:
        folder = Path(name)
        if os.geteuid() == 0:
            shutil.chown(folder, _SYSTEM_USER)
        running = Server(_free_port(), folder)
        _create(running, settings or {})
        running.control("start", "-s", "-l", str(folder / "log"), "-o", f"-p {running.port}")
        try:
            yield running
        finally:
            if (folder / "data" / "postmaster.pid").exists():
                running.control("stop", "-s", "-m", "immediate")


def _create(running: Server, settings: dict[str, str]) -> None:
    password = running.folder / "password"
    password.write_text(PASSWORD, encoding="utf-8")
    password.chmod(0o644)
    data = running.folder / "data"
    options = ["--no-sync", "--username", USER, "--auth=scram-sha-256", "--encoding=UTF8"]
    # The order of a language, which the columns of the ledger must not follow.
    options += ["--locale=C.UTF-8", "--locale-provider=icu", "--icu-locale=en-US"]
    options += [f"--pwfile={password}", "-D", str(data)]
    _run([_program("initdb"), *options], running.folder)
    folder = {"unix_socket_directories": str(running.folder)}
    lines = [f"{name} = '{value}'" for name, value in {**_SETTINGS, **folder, **settings}.items()]
    with (data / "postgresql.conf").open("a", encoding="utf-8") as file:
        file.write("\n".join(["", *lines, ""]))


def _program(name: str) -> str:
    folder = programs()
    assert folder is not None
    return str(folder / name)


def _run(command: Sequence[str], folder: Path) -> None:
    if os.geteuid() == 0:
        user = ["setpriv", f"--reuid={_SYSTEM_USER}", f"--regid={_SYSTEM_USER}", "--clear-groups"]
        command = [*user, *command]
    # Its output is a file, because the server would keep a pipe open.
    with (folder / "output").open("w+", encoding="utf-8") as output:
        ended = subprocess.run(command, cwd=folder, stdout=output, stderr=output, check=False)
        if ended.returncode:
            output.seek(0)
            raise RuntimeError(f"{command} failed: {output.read()}")


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
