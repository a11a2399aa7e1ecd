"""A document that ends the process of its import is quarantined, and the others are imported."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from domain import ImportState, Outcome
from tests.fakes.library import DictLoader
from tests.services.test_import_worker import Factory

ROOT = Path(__file__).parents[3]
DOCUMENTS = {f"{n:03}.txt": f"document {n}" for n in range(100)}
CRASHING = ("005.txt", "090.txt")
WORK = f"from {__name__} import work; import sys; work(sys.argv[1], *sys.argv[2:])"


class CrashingLoader(DictLoader):
    """Ends this process when it reads one of some documents."""

    def __init__(self, texts, crashing):
        super().__init__(texts)
        self.crashing = crashing

    def read(self, ref):
        if ref.key in self.crashing:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().read(ref)


def work(data_dir, *crashing):
    """Perform the next run, in a process of its own."""
    Factory(Path(data_dir), CrashingLoader(DOCUMENTS, crashing)).run_next()


def crashes_of(data_dir, *crashing):
    """How often a process crashes until one ends normally."""
    for crashes in range(9):
        command = [sys.executable, "-c", WORK, str(data_dir), *crashing]
        if subprocess.run(command, cwd=ROOT, timeout=60, check=False).returncode == 0:
            return crashes
    pytest.fail("every process crashes")


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="there is no signal 9")
def test_the_others_are_imported_and_it_is_named_and_read_on_request(tmp_path):
    factory = Factory(tmp_path, DictLoader(DOCUMENTS))
    import_id = factory.enqueue()
    assert crashes_of(tmp_path, *CRASHING) == 2 * len(CRASHING)
    run = factory.queue.get(import_id)
    assert (run.state, run.counts) == (ImportState.COMPLETED_WITH_ERRORS, {"new": 98, "failed": 2})
    failed = [item for item in factory.items(import_id) if item.outcome is Outcome.FAILED]
    assert [item.key for item in failed] == list(CRASHING)
    assert "crashed twice" in failed[0].reason

    factory.enqueue()
    assert crashes_of(tmp_path, *CRASHING) == 0, "an unchanged document is not read again"
    repaired = factory.enqueue(keys=list(CRASHING))
    factory.run_next()
    assert factory.queue.get(repaired).counts == {"new": 2}
