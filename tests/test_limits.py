"""A hanging test fails with its name wherever it hangs, and later tests still run."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CHROMIUM = next(filter(None, map(shutil.which, ["chromium", "chromium-browser"])), "")
LIMIT_S, RUN_S = 3, 120
TESTS = f"""
import time

import pytest

def hide_slowly(_excinfo):  # pytest calls it while it formats the failure
    time.sleep({LIMIT_S} + 1)

@pytest.fixture
def hanging_teardown(place):
    yield
    hang(place)

def test_hangs(place):
    hang(place)

def test_hangs_again(place):
    try:
        hang(place)
    except BaseException:
        hang(place)

def test_with_hanging_fixture(hanging_teardown):
    pass

def test_fails_with_hanging_fixture(hanging_teardown):
    raise ValueError("the first failure")

def test_fails_with_a_slow_report(place):
    __tracebackhide__ = hide_slowly
    raise ValueError("reported slowly")

def test_passes(place):
    pass
"""
LOCK = """
import threading

@pytest.fixture
def place():
    lock = threading.Lock()
    lock.acquire()
    return lock

def hang(lock):
    lock.acquire()
"""
PAGE = f"""
import pytest
from playwright.sync_api import sync_playwright

@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        options = {{"executable_path": {CHROMIUM!r}, "args": ["--no-sandbox"]}}
        with playwright.chromium.launch(**options) as browser:
            yield browser

@pytest.fixture
def place(browser):
    with browser.new_context() as context:
        yield context.new_page()

@pytest.mark.timeout({RUN_S})
def test_the_browser_starts(browser):
    pass  # starting it takes longer than the limit on a busy machine

def hang(page):
    page.evaluate("() => new Promise(() => {{}})")  # a call of Playwright that has no limit
"""


def run(file, *options):
    """Run the tests of the file with this configuration but a short limit."""
    command = [sys.executable, "-m", "pytest", "-v", "--config-file=pyproject.toml"]
    plugin_options = ["-p", "tests.conftest", "-p", "no:cacheprovider", "-o", f"timeout={LIMIT_S}"]
    # Without its own folder, the run would delete those of earlier runs, which may take minutes.
    folder = f"--basetemp={file.parent / 'temporary'}"
    try:
        return subprocess.run(
            [*command, *plugin_options, folder, *options, str(file)],
            cwd=ROOT,
            env=os.environ | {"COLUMNS": "200"},  # the width of the truncated summary
            capture_output=True,
            text=True,
            timeout=RUN_S,
        ).stdout
    except subprocess.TimeoutExpired as error:
        pytest.fail(f"the run did not end; its output:\n{(error.stdout or b'').decode()}")


def check(output, passed):
    hung = f"Failed: Timeout (>{LIMIT_S:.1f}s) from pytest-timeout."
    assert f"::test_hangs - {hung}" in output
    assert f"::test_hangs_again - {hung}" in output
    assert f"::test_with_hanging_fixture - {hung}" in output
    assert "::test_fails_with_hanging_fixture - ValueError: the first failure" in output
    assert f"::test_fails_with_hanging_fixture - {hung}" in output
    assert "::test_fails_with_a_slow_report - ValueError: reported slowly" in output
    assert f"4 failed, {passed} passed, 2 errors" in output
    assert "hang(place)" in output, "the stack of the hanging call"


@pytest.mark.slow
@pytest.mark.parametrize("options", [["-n", "0"], ["-n", "1"]], ids=["alone", "in a worker"])
def test_the_limit_interrupts_a_wait_for_a_lock(tmp_path, options):
    file = tmp_path / "test_hanging.py"
    file.write_text(TESTS + LOCK)
    check(run(file, *options), passed=2)


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.skipif(
    not CHROMIUM, reason="Chromium is missing; get it with: apt-get install chromium"
)
def test_the_limit_interrupts_a_wait_in_playwright(tmp_path):
    file = tmp_path / "test_hanging.py"
    file.write_text(PAGE + TESTS)
    check(run(file, "-n", "0"), passed=3)
