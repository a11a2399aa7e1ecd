"""A process that moves a ledger is killed at random moments, and the next one resumes."""

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from domain.errors import StorageError
from storage.ledger.database import open_database
from tests.fakes.full_ledger import create_full_ledger, rows_of

ROOT = Path(__file__).parents[3]
LIBRARY = "a" * 32
ROWS = 150


def start(folder, old, new):
    command = [sys.executable, "-m", "tests.fakes.moving", str(folder), LIBRARY, old, new]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"ready\n"
    return process


def opens(folder, url):
    try:
        open_database(folder, url).close()
    except StorageError:
        return False
    return True


@pytest.fixture
def seconds(tmp_path):
    """How long a move takes here."""
    folder = tmp_path / "measured"
    folder.mkdir()
    old, new = (f"sqlite:///{folder / name}.db" for name in ("old", "new"))
    create_full_ledger(folder, old, ROWS)
    process, began = start(folder, old, new), time.monotonic()
    assert process.wait() == 0
    return time.monotonic() - began


@pytest.fixture(params=["to_a_file", pytest.param("to_a_server", marks=pytest.mark.postgresql)])
def new(request, tmp_path):
    if request.param == "to_a_file":
        yield f"sqlite:///{tmp_path / 'new.db'}"
        return
    running = request.getfixturevalue("postgresql_server")
    running.execute("CREATE DATABASE killed")
    yield running.url("killed")
    running.execute("DROP DATABASE killed WITH (FORCE)")


@pytest.mark.parametrize(
    "kills", [10, pytest.param(60, marks=[pytest.mark.slow, pytest.mark.timeout(900)])]
)
def test_a_killed_move_leaves_a_library_in_use_and_is_resumed(tmp_path, seconds, new, kills):
    moments = random.Random(kills)
    old = f"sqlite:///{tmp_path / 'old.db'}"
    create_full_ledger(tmp_path, old, ROWS)
    before = rows_of(tmp_path, old)
    for _kill in range(kills):
        process = start(tmp_path, old, new)
        time.sleep(moments.uniform(0, seconds))
        process.kill()
        process.wait()
        is_old, is_new = opens(tmp_path, old), opens(tmp_path, new)
        assert not (is_old and is_new)
        assert rows_of(tmp_path, old) == before
        if not is_old:
            break
    assert start(tmp_path, old, new).wait() == 0
    assert not opens(tmp_path, old)
    assert opens(tmp_path, new)
    assert rows_of(tmp_path, new) == before
