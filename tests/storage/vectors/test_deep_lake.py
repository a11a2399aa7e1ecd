import subprocess
import sys
from pathlib import Path

import pytest

from tests.fakes.outside import recorded

ROOT = Path(__file__).parents[3]
LOAD = """
import logging, os, sys, threading
logging.basicConfig(level=logging.WARNING)
before = dict(os.environ)
from storage.vectors import deep_lake
assert "deeplake" not in sys.modules, "importing our module alone must be cheap"
modules = []
threads = [threading.Thread(target=lambda: modules.append(deep_lake.load())) for _ in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
assert len(modules) == 4 and len(set(map(id, modules))) == 1
assert dict(os.environ) == before, "the proxy settings must be restored"
"""


def run(command, **environment):
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=120,
        env={"PATH": "/usr/bin:/bin", **environment}, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    "environment",
    [{}, {"https_proxy": "http://proxy.example:3128", "NO_PROXY": "*", "HTTP_PROXY": ""}],
)
def test_loading_disables_the_crash_reporter_and_restores_the_proxies(environment):
    result = run([sys.executable, "-c", LOAD], **environment)
    assert result.returncode == 0, result.stderr
    assert "could not be switched off" not in result.stderr


def test_files_are_read_by_few_threads():
    code = "from storage.vectors.deep_lake import load; print(load().storage.concurrency())"
    assert run([sys.executable, "-c", code]).stdout.strip() == "2"


def test_a_crash_reporter_that_cannot_be_disabled_is_logged():
    code = """
import logging
logging.basicConfig()
from types import SimpleNamespace
from storage.vectors.deep_lake import _disable_crash_reporter
_disable_crash_reporter(SimpleNamespace(_deeplake=SimpleNamespace(__file__=None)))
"""
    result = run([sys.executable, "-c", code])
    assert "could not be switched off" in result.stderr


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux network namespaces")
@pytest.mark.parametrize("environment", [{}, {"NO_PROXY": "*"}], ids=["plain", "no_proxy set"])
def test_no_external_network_connections_are_made(tmp_path, environment):
    code = """
import sys, time
from pathlib import Path
from tests.fakes.models import HashingEmbeddings
from storage.vectors.passage_store import DeepLakePassages
store = DeepLakePassages(Path(sys.argv[1]), HashingEmbeddings())
store.add_texts(["a cat", "a dog"])
assert store.similarity_search("dog", 1)[0].page_content == "a dog"
time.sleep(1)
"""
    with recorded() as outside:
        result = run([sys.executable, "-c", code, str(tmp_path / "store")], **environment)
        assert result.returncode == 0, result.stderr
        assert outside.calls() == []
