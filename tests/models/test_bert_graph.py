"""The graph is built once, completely or not at all, and only from the pinned weights."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from safetensors.numpy import load_file, save

from domain.errors import ConfigError
from models import bert_graph, builtin_models
from models.bert_graph import graph_file
from models.builtin_models import MiniLM

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
MODEL = MiniLM(Path("unused"))
BUILD = (
    "import sys; from pathlib import Path; from models.bert_graph import graph_file;"
    "from models.builtin_models import MiniLM; cache = Path(sys.argv[1]);"
    "graph_file(MiniLM(cache), cache, 'fp32')"
)


def start_build(cache_dir):
    return subprocess.Popen([sys.executable, "-c", BUILD, cache_dir], cwd=ROOT)


def wait_for(condition, seconds=30):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "the condition was never met"
        time.sleep(0.001)


def vector(graph, ids, mask):
    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    feed = {"input_ids": np.array(ids), "attention_mask": np.array(mask)}
    return session.run(None, feed)[0]


def test_padding_changes_nothing(fp32, cache_dir):
    fp32.embed_query("build the graph")
    graph = graph_file(MODEL, cache_dir, "fp32")
    bare = vector(graph, [[101, 7592, 102]], [[1, 1, 1]])
    rows = vector(
        graph, [[101, 7592, 102, 0, 0], [101, 7592, 2088, 999, 102]], [[1, 1, 1, 0, 0], [1] * 5]
    )
    assert np.allclose(rows[0], bare[0], atol=1e-6)
    assert not np.allclose(rows[1], bare[0], atol=1e-2)


def test_an_existing_graph_is_not_built_again(tmp_path):
    first = graph_file(MODEL, tmp_path, "fp32")
    stamp = first.stat().st_mtime_ns
    assert graph_file(MODEL, tmp_path, "fp32") == first
    assert first.stat().st_mtime_ns == stamp
    assert [path.name for path in tmp_path.iterdir()] == [first.name]


def test_each_precision_and_runtime_has_its_own_file(tmp_path, monkeypatch):
    monkeypatch.setattr(bert_graph, "_write", lambda _made, folder, _p: touch(folder / "made"))
    names = {graph_file(MODEL, tmp_path, precision).name for precision in ("int8", "fp32")}
    monkeypatch.setattr(bert_graph, "version", lambda _package: "9.9.9")
    names |= {graph_file(MODEL, tmp_path, precision).name for precision in ("int8", "fp32")}
    assert len(names) == 4
    assert all(MODEL.sha256[:12] in name for name in names)


def touch(path):
    path.touch()
    return path


def test_other_weights_are_rejected(tmp_path, monkeypatch):
    weights = load_file(builtin_models._minilm_folder() / "model.safetensors")
    weights["pooler.dense.bias"] = weights["pooler.dense.bias"] + 1
    other = tmp_path / "model.safetensors"
    other.write_bytes(save(weights))
    monkeypatch.setattr(builtin_models, "_minilm_folder", lambda: tmp_path)
    with pytest.raises(ConfigError, match=f"{other} is not the expected model.*make setup"):
        MODEL.weights()


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["folder", "half", "named"])
def test_a_killed_build_leaves_no_partial_file(tmp_path, moment):
    def size():
        return max((path.stat().st_size for path in tmp_path.glob("*/fp32.onnx")), default=-1)

    reached = {
        "folder": lambda: any(tmp_path.iterdir()),
        "half": lambda: size() >= 0,
        "named": lambda: any(tmp_path.glob("*.onnx")),
    }
    build = start_build(tmp_path)
    try:
        wait_for(reached[moment])
    finally:
        os.kill(build.pid, signal.SIGKILL)
        build.wait()
    for path in tmp_path.glob("*.onnx"):
        assert path.stat().st_size > 90_000_000
    assert vector(graph_file(MODEL, tmp_path, "fp32"), [[101, 102]], [[1, 1]]).shape == (1, 384)


def test_a_build_removes_files_of_killed_builds_but_not_of_running_ones(tmp_path, monkeypatch):
    monkeypatch.setattr(bert_graph, "_write", lambda _made, folder, _p: touch(folder / "made"))
    abandoned, working = tmp_path / "embedding-building-old", tmp_path / "embedding-building-new"
    for folder in (abandoned, working):
        folder.mkdir()
        (folder / "fp32.onnx").write_bytes(b"half")
    os.utime(abandoned, (time.time() - 3600,) * 2)
    graph_file(MODEL, tmp_path, "int8")
    assert not abandoned.exists()
    assert (working / "fp32.onnx").exists()


def test_two_processes_can_build_concurrently(tmp_path):
    builds = [start_build(tmp_path) for _ in range(2)]
    assert [build.wait(timeout=60) for build in builds] == [0, 0]
    assert len(list(tmp_path.iterdir())) == 1


def test_a_cache_path_that_is_a_file_is_reported(tmp_path):
    (tmp_path / "cache").write_text("in the way")
    with pytest.raises(ConfigError, match=f"{tmp_path / 'cache'}.*writable"):
        graph_file(MODEL, tmp_path / "cache", "int8")
