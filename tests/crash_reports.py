"""Shows, at the end of a run, the stack of each test process that crashed in compiled code.

Pytest alone prints it when the process crashes, in the middle of a log that is often cut.
"""

import faulthandler
import os
import tempfile
from pathlib import Path

import pytest

FOLDER = pytest.StashKey()
FILE = "crash_report"


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    """Tell a process of pytest-xdist which file its stack belongs in."""
    stash = node.config.stash
    if FOLDER not in stash:
        stash[FOLDER] = tempfile.TemporaryDirectory(prefix="footnote-crashes-")
        node.config.add_cleanup(stash[FOLDER].cleanup)
    node.workerinput[FILE] = str(Path(stash[FOLDER].name, node.gateway.id))


@pytest.hookimpl(trylast=True)  # pytest's own handler is replaced
def pytest_configure(config):
    file = getattr(config, "workerinput", {}).get(FILE)
    if file:
        faulthandler.enable(os.open(file, os.O_CREAT | os.O_WRONLY))
        os.register_at_fork(after_in_child=faulthandler.disable)


def pytest_terminal_summary(terminalreporter, config):
    if FOLDER not in config.stash:
        return
    for file in sorted(Path(config.stash[FOLDER].name).iterdir()):
        if report := file.read_text(encoding="utf-8"):
            terminalreporter.section(f"crash of {file.name}")
            terminalreporter.line(excerpt(report))


def excerpt(report):
    """The signal, and the stack of the thread that received it; all, if it is no Python thread."""
    signal, _, threads = report.partition("\n")
    start = threads.find("Current thread")
    if start < 0:
        return report
    stack, _, _ = threads[start:].partition("\n\n")
    return f"{signal}\n{stack}"
