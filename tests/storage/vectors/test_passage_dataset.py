import json

import pytest

from domain.errors import DamagedIndexError, StorageError
from storage.index_files import CHECKSUMS
from storage.vectors import passage_dataset
from storage.vectors.deep_lake import PassageFiles, load
from storage.vectors.passage_store import DeepLakePassages
from tests.storage.vectors.random_vectors import TextVectors


@pytest.fixture
def folder(tmp_path):
    """A dataset with three passages."""
    folder = tmp_path / "passages"
    DeepLakePassages(folder, TextVectors()).add_texts(["1 0", "0 1", "1 1"], ids=list("abc"))
    return folder


def assert_rejected_with_advice(folder, reason):
    store = DeepLakePassages(folder, TextVectors())
    with pytest.raises(StorageError, match=reason) as caught:
        store.similarity_search("1 0")
    assert "python cli.py reindex" in str(caught.value)
    assert str(folder) in str(caught.value)


@pytest.mark.parametrize("change", [{"deeplake": "4.3.5"}, {"schema": 0}])
def test_datasets_of_other_versions_can_be_neither_read_nor_written(folder, change):
    file_format = json.loads((folder / "format.json").read_text())
    (folder / "format.json").write_text(json.dumps({**file_format, **change}))
    (folder / CHECKSUMS).unlink()  # they do not match the changed file
    assert_rejected_with_advice(folder, "4.3.5|format 0")
    with pytest.raises(StorageError, match="reindex"):
        DeepLakePassages(folder, TextVectors()).add_texts(["1 0"])


@pytest.mark.parametrize("content", [None, "", "{", "[]", '{"schema": 1}'])
def test_missing_and_damaged_format_files_are_rejected(folder, content):
    (folder / "format.json").unlink()
    if content is not None:
        (folder / "format.json").write_text(content)
    assert_rejected_with_advice(folder, "format.json")


def test_empty_files_of_a_killed_writer_are_ignored(folder):
    (folder / "rows" / "left behind").write_bytes(b"")
    assert len(DeepLakePassages(folder, TextVectors()).similarity_search("1 0")) == 3


def test_empty_data_files_without_checksums_are_rejected(folder):
    (folder / CHECKSUMS).unlink()
    for file in (folder / "rows").rglob("*"):
        if file.is_file() and "_deeplake_log" not in file.parts:
            file.write_bytes(b"")
    assert_rejected_with_advice(folder, "rows can't be read: the process that read it failed")


def test_files_without_checksums_are_first_read_by_another_process(folder):
    (folder / CHECKSUMS).unlink()
    for file in (folder / "rows").rglob("*"):
        if file.is_file() and "_deeplake_log" not in file.parts:
            file.write_bytes(bytes(file.stat().st_size))  # reading them would crash this process
    with pytest.raises(DamagedIndexError, match=r"rows can't be read.*reindex"):
        PassageFiles(folder).record_first()
    assert not (folder / CHECKSUMS).exists()
    assert_rejected_with_advice(folder, "rows can't be read")


@pytest.mark.parametrize("share", [0.3, 0.5, 0.7, 0.9])
def test_a_commit_with_a_truncated_log_is_ignored_or_rejected(folder, share):
    last = sorted((folder / "rows" / "_deeplake_log").glob("[0-9a-f]*/[0-9]*"))[-1]
    data = last.read_bytes()
    last.write_bytes(data[: int(len(data) * share)])  # which columns remain is random
    (folder / CHECKSUMS).unlink()  # the writer was killed before it stored them
    try:
        results = DeepLakePassages(folder, TextVectors()).similarity_search("1 0", 9)
    except StorageError as error:
        assert "python cli.py reindex" in str(error)  # noqa: PT017 - both outcomes are valid
    else:
        assert results == []


def test_folders_without_a_log_are_rejected(folder):
    for file in (folder / "rows" / "_deeplake_log").rglob("*"):
        if file.is_file():
            file.unlink()
    assert_rejected_with_advice(folder, "can't be read")


def test_an_interrupted_creation_is_restarted(tmp_path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(passage_dataset.Path, "rename", interrupt)
        with pytest.raises(KeyboardInterrupt):
            DeepLakePassages(tmp_path, TextVectors()).add_texts(["1 0 0"], ids=["a"])
    store = DeepLakePassages(tmp_path, TextVectors())
    assert store.ids() == []
    store.add_texts(["1 0"], ids=["b"])  # another dimension is allowed in an empty store
    assert DeepLakePassages(tmp_path, TextVectors()).ids() == ["b"]


def test_a_failed_commit_raises_and_leaves_the_store_unchanged(folder, monkeypatch):
    store = DeepLakePassages(folder, TextVectors())
    assert len(store) == 3
    (counter,) = (
        file
        for file in (folder / "rows" / "_deeplake_log").glob("*/next_base")
        if file.parent.name != "_meta"
    )
    original = counter.read_bytes()
    with monkeypatch.context() as patch:
        # A full disk truncates the counter after the files were verified.
        patch.setattr(passage_dataset, "fill_gaps", lambda _: counter.write_bytes(b""))
        with pytest.raises(StorageError, match="nothing was saved in this step"):
            store.add_texts(["2 1"], ids=["d"])
    counter.write_bytes(original)
    assert store.ids() == ["a", "b", "c"]
    store.add_texts(["2 1"], ids=["d"])
    assert DeepLakePassages(folder, TextVectors()).ids() == ["a", "b", "c", "d"]


def test_the_vector_column_has_no_index(folder):
    dataset = load().open(str(folder / "rows"))
    assert "index" not in str(dataset.schema["embedding"]).lower()
