"""The cache of OpenSearch's files, without Maven and Java."""

import socket
import zipfile
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.opensearch import layout, programs
from tests.opensearch.artifacts import MODULES, PLUGINS, artifact_of
from tests.opensearch.cluster import Cluster
from tests.opensearch.home import free_ports, prepare_nodes
from tests.opensearch.layout import fetched, is_complete
from tests.opensearch.programs import OpenSearchError
from tests.servers import free_port


@pytest.fixture
def builds(tmp_path, monkeypatch):
    """The folders that were built, each with one file, in a cache of their own."""
    folders = []

    def fetch(folder):
        folders.append(folder)
        (folder / "jars").mkdir()
        return folder / "jars"

    def compile_launcher(built):
        (built / "launcher").mkdir(parents=True)
        (built / "launcher" / "Launcher.class").write_bytes(b"class")

    monkeypatch.setattr(layout, "CACHE", tmp_path / "cache")
    monkeypatch.setattr(layout, "require_programs", int)
    monkeypatch.setattr(layout, "_fetch", fetch)
    monkeypatch.setattr(layout, "_place_jars", lambda jars, built: None)
    monkeypatch.setattr(layout, "_unpack_plugins", lambda jars, plugins: None)
    monkeypatch.setattr(layout, "_compile", compile_launcher)
    return folders


def test_a_complete_layout_is_reused(builds):
    assert fetched() == fetched()
    assert len(builds) == 1


def test_four_threads_at_once_build_it_once(builds):
    with ThreadPoolExecutor(4) as threads:
        folders = [threads.submit(fetched) for _ in range(4)]
        assert len({folder.result(60) for folder in folders}) == 1
    assert len(builds) == 1


@pytest.mark.parametrize("damage", ["missing", "shorter", "no manifest"])
def test_a_damaged_layout_is_built_again(builds, damage):
    folder = fetched()
    file = folder / "launcher" / "Launcher.class"
    if damage == "missing":
        file.unlink()
    elif damage == "shorter":
        file.write_bytes(b"cl")
    else:
        (folder / "manifest.json").unlink()
    assert not is_complete(folder)
    assert is_complete(fetched())
    assert len(builds) == 2


def test_a_failed_fetch_leaves_no_layout(builds, monkeypatch):
    def fail(folder):
        (folder / "jars").mkdir()
        raise OpenSearchError("Maven could not fetch OpenSearch")

    monkeypatch.setattr(layout, "_fetch", fail)
    with pytest.raises(OpenSearchError, match="Maven could not fetch"):
        fetched()
    assert {path.name for path in layout.CACHE.iterdir()} == {"lock"}


def test_a_plugin_with_another_checksum_is_not_unpacked(tmp_path):
    for name in PLUGINS:
        with zipfile.ZipFile(tmp_path / f"{name}-2.19.1.0.zip", "w") as archive:
            archive.writestr("plugin-descriptor.properties", "")
    with pytest.raises(OpenSearchError, match=r"opensearch-knn-2\.19\.1\.0\.zip does not have"):
        layout._unpack_plugins(tmp_path, tmp_path / "plugins")
    assert not (tmp_path / "plugins").exists()


def test_the_remains_of_an_interrupted_fetch_are_removed(builds):
    (layout.CACHE / "building-1" / "jars").mkdir(parents=True)
    folder = fetched()
    assert {path.name for path in layout.CACHE.iterdir()} == {"lock", folder.name}


def test_the_message_names_what_to_install(monkeypatch):
    monkeypatch.setattr(programs.shutil, "which", {"java": "/usr/bin/java"}.get)
    with pytest.raises(OpenSearchError, match=r"needs javac, mvn; install .*apt-get install"):
        programs.require_programs()


def test_a_command_that_fails_or_hangs_is_an_error():
    with pytest.raises(OpenSearchError, match="(?s)could not list.*no-such-folder"):
        programs.run(["ls", "/no-such-folder"], limit_s=10, failure="could not list")
    with pytest.raises(OpenSearchError, match="could not sleep: no result after 0 s"):
        programs.run(["sleep", "10"], limit_s=0.1, failure="could not sleep")


def test_each_jar_has_one_place():
    jars = [jar for module in MODULES for jar in module.jars]
    assert len(jars) == len(set(jars))
    assert artifact_of("zstd-jni-1.5.5-5.jar") == "zstd-jni"
    assert artifact_of("netty-buffer-4.1.118.Final.jar") == "netty-buffer"
    assert artifact_of("opensearch-knn-2.19.1.0.zip") == "opensearch-knn"


def test_all_nodes_are_stopped_even_if_one_fails():
    stops = []

    class FakeNode:
        def __init__(self, name):
            self.name = name

        def stop(self):
            stops.append(self.name)
            if self.name == "second":
                raise OSError("no such process")

    nodes = tuple(map(FakeNode, ("first", "second", "third")))
    with pytest.raises(OSError, match="no such process"):
        Cluster(nodes, None).stop()
    assert stops == ["third", "second", "first"]


def test_a_port_in_use_is_named(tmp_path):
    port = free_port()
    with socket.create_server(("127.0.0.1", port)):
        with pytest.raises(OpenSearchError, match=f"port {port} is in use"):
            prepare_nodes(1, tmp_path, tmp_path, None, port, 512)


def test_free_ports_differ_and_are_not_those_of_outgoing_connections():
    ports = free_ports([None] * 6)
    assert len(set(ports)) == 6
    assert max(ports) < 32_768
