"""Each operation on a full disk; `python -m benchmarks.crash.full_disk` tries more levels."""

import json
import shutil
import subprocess
import sys

import pytest

from benchmarks.crash.full_disk import DISK, namespace
from benchmarks.crash.operations import OPERATIONS
from tests.fakes.command_line import ROOT

LEVELS = {"too little for the index": 60 * 2**20, "too little for an answer": 40 * 2**10, "none": 0}
PROGRAM = f"""
import json, sys
from dataclasses import asdict
from pathlib import Path
from benchmarks.crash.full_disk import outcomes
levels = {list(LEVELS.values())}
found = [asdict(one) for one in outcomes(Path(sys.argv[1]), levels, pages=12, notes=3)]
Path(sys.argv[2]).write_text(json.dumps(found))
"""


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """The outcomes by operation and free bytes."""
    if not _can_mount(tmp_path_factory.mktemp("probe")):
        pytest.skip("needs Linux, and root or `unshare --map-root-user`")
    disk, file = tmp_path_factory.mktemp("disk"), tmp_path_factory.mktemp("found") / "found.json"
    command = [*namespace(), *DISK, disk, sys.executable, "-c", PROGRAM, disk, file]
    subprocess.run(command, cwd=ROOT, check=True, timeout=300)
    return {(one["operation"], one["free"]): one for one in json.loads(file.read_text())}


def _can_mount(folder):
    if sys.platform != "linux" or shutil.which("unshare") is None:
        return False
    return subprocess.run([*namespace(), *DISK, folder, "true"], check=False).returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize("free", LEVELS.values(), ids=LEVELS)
@pytest.mark.parametrize("operation", [one.name for one in OPERATIONS])
def test_a_full_disk_is_named_and_nothing_is_lost(outcomes, operation, free):
    found = outcomes[operation, free]
    assert found["faults"] == []
    if operation == "answers" and free == LEVELS["too little for the index"]:
        assert found["message"] == ""
    else:
        assert "is full" in found["message"] or "MiB are needed" in found["message"]
        assert "ree some space" in found["message"]
        assert "permission" not in found["message"]
