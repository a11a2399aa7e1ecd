import json

import pytest

from errors import DamagedIndexError, StorageError
from storage.index_files import CHECKSUMS
from storage.vectors import passage_dataset
from storage.vectors.deep_lake import load
from storage.vectors.passage_files import PassageFiles
from storage.vectors.passage_store import DeepLakePassages
from tests.storage.vectors.random_vectors import SpokenVectors


@pytest.fixture
def folder(tmp_path):
    """A dataset with three passages."""
    made = tmp_path / "passages"
    DeepLakePassages(made, SpokenVectors()).add_texts(["1 0", "0 1", "1 1"], ids=list("abc"))
    return made


def assert_refused_with_remedy(folder, why):
    store = DeepLakePassages(folder, SpokenVectors())
    with pytest.raises(StorageError, match=why) as caught:
        store.similarity_search("1 0")
    assert "python cli.py reindex" in str(caught.value)
    assert str(folder) in str(caught.value)


@pytest.mark.parametrize("change", [{"deeplake": "4.3.5"}, {"schema": 0}])
def test_a_dataset_of_another_version_is_refused_also_for_writing(folder, change):
    described = json.loads((folder / "format.json").read_text())
    (folder / "format.json").write_text(json.dumps({**described, **change}))
    (folder / CHECKSUMS).unlink()  # that version would have listed its own
    assert_refused_with_remedy(folder, "4.3.5|format 0")
    with pytest.raises(StorageError, match="reindex"):
        DeepLakePassages(folder, SpokenVectors()).add_texts(["1 0"])


@pytest.mark.parametrize("content", [None, "", "{", "[]", '{"schema": 1}'])
def test_a_missing_or_damaged_description_is_refused(folder, content):
    (folder / "format.json").unlink()
    if content is not None:
        (folder / "format.json").write_text(content)
    assert_refused_with_remedy(folder, "format.json")


def test_an_empty_file_that_a_killed_writer_left_behind_does_no_harm(folder):
    (folder / "rows" / "left behind").write_bytes(b"")
    assert len(DeepLakePassages(folder, SpokenVectors()).similarity_search("1 0")) == 3


def test_empty_files_that_were_never_listed_are_refused_after_another_process_read_them(folder):
    (folder / CHECKSUMS).unlink()
    for file in (folder / "rows").rglob("*"):
        if file.is_file() and "_deeplake_log" not in file.parts:
            file.write_bytes(b"")
    assert_refused_with_remedy(folder, "are empty")


def test_files_whose_list_is_lost_are_read_by_another_process_first(folder):
    (folder / CHECKSUMS).unlink()
    for file in (folder / "rows").rglob("*"):
        if file.is_file() and "_deeplake_log" not in file.parts:
            file.write_bytes(bytes(file.stat().st_size))  # reading them would end this process
    with pytest.raises(DamagedIndexError, match=f"{CHECKSUMS} is missing.*reindex"):
        PassageFiles(folder).record_first()
    assert not (folder / CHECKSUMS).exists()
    assert_refused_with_remedy(folder, f"{CHECKSUMS} is missing")


@pytest.mark.parametrize("share", [0.3, 0.5, 0.7, 0.9])
def test_a_commit_whose_log_is_cut_off_counts_as_none_or_is_refused(folder, share):
    last = sorted((folder / "rows" / "_deeplake_log").glob("[0-9a-f]*/[0-9]*"))[-1]
    data = last.read_bytes()
    last.write_bytes(data[: int(len(data) * share)])  # which columns are left is random
    (folder / CHECKSUMS).unlink()  # the writer was killed before it listed them
    try:
        kept = DeepLakePassages(folder, SpokenVectors()).similarity_search("1 0", 9)
    except StorageError as error:
        assert "python cli.py reindex" in str(error)  # noqa: PT017 - either outcome is right
    else:
        assert kept == []


def test_a_folder_without_its_log_is_refused(folder):
    for file in (folder / "rows" / "_deeplake_log").rglob("*"):
        if file.is_file():
            file.unlink()
    assert_refused_with_remedy(folder, "can't be read")


def test_a_creation_that_was_killed_is_started_anew(tmp_path, monkeypatch):
    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(passage_dataset.Path, "rename", killed)
        with pytest.raises(KeyboardInterrupt):
            DeepLakePassages(tmp_path, SpokenVectors()).add_texts(["1 0 0"], ids=["a"])
    store = DeepLakePassages(tmp_path, SpokenVectors())
    assert store.ids() == []
    store.add_texts(["1 0"], ids=["b"])  # of another dimension: nothing was there yet
    assert DeepLakePassages(tmp_path, SpokenVectors()).ids() == ["b"]


def test_a_commit_that_fails_is_said_and_leaves_the_store_as_it_was(folder, monkeypatch):
    store = DeepLakePassages(folder, SpokenVectors())
    assert len(store) == 3
    (counter,) = (
        file
        for file in (folder / "rows" / "_deeplake_log").glob("*/next_base")
        if file.parent.name != "_meta"
    )
    whole = counter.read_bytes()
    with monkeypatch.context() as patch:
        # What a full disk leaves behind, after the files were found sound.
        patch.setattr(passage_dataset, "fill_gaps", lambda _: counter.write_bytes(b""))
        with pytest.raises(StorageError, match="nothing was saved in this step"):
            store.add_texts(["2 1"], ids=["d"])
    counter.write_bytes(whole)
    assert store.ids() == ["a", "b", "c"]
    store.add_texts(["2 1"], ids=["d"])
    assert DeepLakePassages(folder, SpokenVectors()).ids() == ["a", "b", "c", "d"]


def test_vectors_are_kept_in_a_column_without_an_index(folder):
    dataset = load().open(str(folder / "rows"))
    assert "index" not in str(dataset.schema["embedding"]).lower()
