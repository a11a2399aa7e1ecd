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
found = []
threads = [threading.Thread(target=lambda: found.append(deep_lake.load())) for _ in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
assert len(found) == 4 and len(set(map(id, found))) == 1
assert dict(os.environ) == before, "the proxy settings must be as they were"
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
def test_loading_stops_the_reporter_and_puts_the_proxies_back(environment):
    done = run([sys.executable, "-c", LOAD], **environment)
    assert done.returncode == 0, done.stderr
    assert "could not be switched off" not in done.stderr


def test_a_reporter_that_cannot_be_stopped_is_said():
    code = """
import logging
logging.basicConfig()
from types import SimpleNamespace
from storage.vectors.deep_lake import _disable_crash_reporter
_disable_crash_reporter(SimpleNamespace(_deeplake=SimpleNamespace(__file__=None)))
"""
    done = run([sys.executable, "-c", code])
    assert "could not be switched off" in done.stderr


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux network namespaces")
@pytest.mark.parametrize("environment", [{}, {"NO_PROXY": "*"}], ids=["plain", "no_proxy set"])
def test_nothing_leaves_the_machine(tmp_path, environment):
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
        done = run([sys.executable, "-c", code, str(tmp_path / "store")], **environment)
        assert done.returncode == 0, done.stderr
        assert outside.calls() == []
