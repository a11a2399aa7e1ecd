"""A real node: its version, k-NN, failures, and its end."""

import os
import signal
import subprocess
import sys

import httpx
import pytest

from tests.fakes.command_line import ROOT
from tests.opensearch.artifacts import VERSION
from tests.opensearch.cluster import cluster
from tests.opensearch.processes import is_alive, wait_for_end
from tests.opensearch.programs import OpenSearchError

pytestmark = [pytest.mark.opensearch, pytest.mark.usefixtures("opensearch_programs")]

VECTORS = {
    "settings": {"index": {"knn": True, "number_of_replicas": 0}},
    "mappings": {
        "properties": {
            "vector": {
                "type": "knn_vector",
                "dimension": 3,
                "space_type": "cosinesimil",
                "method": {"name": "hnsw", "engine": "lucene"},
            }
        }
    },
}
PARENT = """
import sys, time
from pathlib import Path
from tests.opensearch.home import HEAP_MB, prepare_nodes
from tests.opensearch.layout import fetched
(node,) = prepare_nodes(1, Path(sys.argv[1]), fetched(), None, None, HEAP_MB)
node.start()
while not node.log.stat().st_size:
    time.sleep(0.1)
if sys.argv[2] == "paused":
    node.pause()
print(node.process.pid, flush=True)
time.sleep(600)
"""


def test_a_node_answers_with_the_version(opensearch):
    assert opensearch.client().info()["version"]["number"] == VERSION


def test_the_lucene_engine_finds_the_nearest_vector(opensearch):
    client = opensearch.client()
    client.indices.create(index="two-vectors", body=VECTORS)
    for name, vector in {"north": [0, 1, 0], "east": [1, 0, 0]}.items():
        document = {"vector": vector}
        client.index(index="two-vectors", body=document, id=name, refresh=True)
    query = {"query": {"knn": {"vector": {"vector": [0.9, 0.1, 0], "k": 1}}}}
    hits = client.search(index="two-vectors", body=query)["hits"]["hits"]
    assert [hit["_id"] for hit in hits] == ["east"]


def test_a_paused_node_does_not_answer_until_it_resumes(opensearch):
    node = opensearch.nodes[0]
    node.pause()
    try:
        with pytest.raises(httpx.TimeoutException):
            httpx.get(node.url, timeout=1, trust_env=False)
    finally:
        node.resume()
    assert opensearch.get("/").status_code == 200


def test_a_killed_node_starts_again_with_its_data(opensearch):
    node = opensearch.nodes[0]
    opensearch.client().index(index="notes", body={"text": "kept"}, id="1")
    first = node.process.pid
    node.kill()
    assert not is_alive(first)
    opensearch.start()
    assert node.process.pid != first
    assert opensearch.client().get(index="notes", id="1")["_source"] == {"text": "kept"}


def test_a_node_that_cannot_start_is_an_error_with_its_log(tmp_path):
    (tmp_path / "node-1").mkdir()
    (tmp_path / "node-1" / "data").write_text("a file where the folder belongs")
    with pytest.raises(OpenSearchError, match=r"(?s)node-1 ended.*data.*Not a directory"):
        with cluster(folder=tmp_path):
            pass


@pytest.mark.parametrize("state", ["running", "paused"])
def test_a_node_ends_when_its_parent_is_killed(tmp_path, state):
    command = [sys.executable, "-c", PARENT, tmp_path, state]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as parent:
        try:
            pid = int(parent.stdout.readline())
        finally:
            parent.kill()
    try:
        assert wait_for_end(pid)
    finally:
        if is_alive(pid):
            os.kill(pid, signal.SIGKILL)
