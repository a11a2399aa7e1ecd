"""The stack of a test process that crashes is shown at the end of the run."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.crash_reports import excerpt

ROOT = Path(__file__).parents[1]
TESTS = """
import faulthandler, os, threading, pytest
from settings import load_settings

@pytest.fixture(scope="session", autouse=True)
def _settings():
    load_settings()  # rejects unknown variables

def test_forks():
    if os.fork() == 0:
        faulthandler._sigsegv()
    os.wait()

def test_crashes():
    for _ in range(12):
        threading.Thread(target=threading.Event().wait, daemon=True).start()
    crash()

def crash():
    faulthandler._sigsegv()
"""


def test_all_stacks_are_shown_if_a_thread_of_a_library_crashed():
    report = "Fatal Python error: Aborted\n\nThread 1:\n  in wait\n\nThread 2:\n  in test\n"
    assert excerpt(report) == report


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes can't fork")
def test_the_stack_of_the_crashed_thread_is_shown_once_and_nothing_is_left(tmp_path):
    project, temporary = tmp_path / "project", tmp_path / "tmp"
    project.mkdir()
    temporary.mkdir()
    shutil.copy(ROOT / "tests" / "crash_reports.py", project / "conftest.py")
    (project / "test_crash.py").write_text(TESTS, encoding="utf-8")
    options = ["-n1", "--max-worker-restart=0", "-p", "no:cacheprovider", "--rootdir", str(project)]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(project)],
        cwd=project,
        env={**os.environ, "TMPDIR": str(temporary), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 1, run.stdout
    before, _, report = run.stdout.partition("= crash of gw0 =")
    assert "Fatal Python error: Segmentation fault" in report
    assert "in crash\n" in report
    assert "in wait\n" not in report
    assert "Segmentation" not in before
    assert list(temporary.glob("footnote-*")) == []
