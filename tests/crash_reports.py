"""Shows, at the end of a run, the stack of each test process that crashed in compiled code.

Pytest prints it when the process crashes, in the middle of a log that is often cut.
"""

import faulthandler
import os
import tempfile
from pathlib import Path

import pytest

FOLDER = "FOOTNOTE_CRASH_REPORTS"
"""The environment variable with the folder of the stacks, which test processes inherit."""
LINES = 40


@pytest.hookimpl(trylast=True)  # pytest's own handler is replaced
def pytest_configure(config):
    if not hasattr(config, "workerinput"):
        os.environ[FOLDER] = tempfile.mkdtemp(prefix="footnote-crashes-")
        return
    file = Path(os.environ[FOLDER], config.workerinput["workerid"])
    faulthandler.enable(os.open(file, os.O_CREAT | os.O_WRONLY))


def pytest_terminal_summary(terminalreporter):
    for file in sorted(Path(os.environ[FOLDER]).iterdir()):
        lines = file.read_text(encoding="utf-8").splitlines()[:LINES]
        if lines:
            terminalreporter.section(f"crash of {file.name}")
            terminalreporter.line("\n".join(lines))
