"""Imports leave the processors to people who wait for answers."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from commands.low_priority import NICENESS

ROOT = Path(__file__).parents[1]
OUR_SESSION = Path("/proc/self/autogroup")
LOWERED = "from commands.low_priority import lower_priority; lower_priority(); "
READING = """
from loaders import document_reader
document_reader.read_document("note.md", b"# Note")
child = document_reader.DOCUMENTS._child._process.pid
print(os.getpriority(os.PRIO_PROCESS, child), os.getsid(child) == os.getsid(0))
"""
WAIT_S = 60

pytestmark = pytest.mark.skipif(os.name == "nt", reason="there are no priorities")


def output_of(script, *, leads_session):
    command = [sys.executable, "-c", f"import os; {LOWERED}{script}"]
    result = subprocess.run(
        command,
        cwd=ROOT,
        start_new_session=leads_session,
        capture_output=True,
        text=True,
        check=True,
        timeout=WAIT_S,
    )
    return result.stdout.strip()


def test_a_process_yields_to_others():
    before = os.getpriority(os.PRIO_PROCESS, 0)
    assert output_of("print(os.nice(0))", leads_session=True) == str(before + NICENESS)


@pytest.mark.skipif(not OUR_SESSION.exists(), reason="this system does not group sessions")
def test_the_session_of_a_process_yields_to_others_only_if_the_process_leads_it():
    script = "print(open('/proc/self/autogroup').read())"
    ours = OUR_SESSION.read_text().split()[-1]
    niceness = os.getpriority(os.PRIO_PROCESS, 0) + NICENESS
    assert output_of(script, leads_session=True).endswith(f"nice {niceness}")
    assert output_of(script, leads_session=False).endswith(f"nice {ours}")


def test_documents_are_read_with_the_same_priority_in_the_same_session():
    niceness = os.getpriority(os.PRIO_PROCESS, 0) + NICENESS
    assert output_of(READING, leads_session=True) == f"{niceness} True"


def test_a_worker_yields_to_others(tmp_path):
    command = [sys.executable, "cli.py", "worker", "--supervised", "--data-dir", str(tmp_path)]
    ours, deadline = os.getpriority(os.PRIO_PROCESS, 0), time.monotonic() + WAIT_S
    with subprocess.Popen(command, cwd=ROOT) as worker:
        try:
            while os.getpriority(os.PRIO_PROCESS, worker.pid) != ours + NICENESS:
                assert time.monotonic() < deadline, "the worker kept its priority"
                time.sleep(0.05)
        finally:
            worker.kill()
