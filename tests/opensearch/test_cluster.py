"""Three real nodes."""

import pytest

from tests.opensearch.cluster import cluster
from tests.opensearch.processes import is_alive

pytestmark = [
    pytest.mark.opensearch,
    pytest.mark.usefixtures("opensearch_programs"),
    pytest.mark.timeout(900),  # three nodes need minutes on a busy machine
]


def test_three_nodes_survive_the_end_of_the_elected_one(tmp_path):
    with cluster(3, folder=tmp_path) as running:
        client = running.client(max_retries=5, retry_on_timeout=True)
        client.indices.create(index="notes", body={"settings": {"number_of_replicas": 1}})
        running.wait(status="green")
        client.index(index="notes", body={"text": "before"}, id="1")
        elected = running.elected()
        elected.kill()
        running.wait()
        assert running.elected() is not elected
        client.index(index="notes", body={"text": "after"}, id="2", refresh=True)
        assert client.count(index="notes")["count"] == 2
        running.start()
        assert len(running.get("/_cat/nodes?format=json").json()) == 3
        processes = [node.process.pid for node in running.nodes]
    assert not any(is_alive(pid) for pid in processes)
