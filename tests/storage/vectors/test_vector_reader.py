"""All vectors are read through handles that are dropped, and always of one state."""

import numpy as np
import pytest

from storage.vectors import passage_rows
from storage.vectors.passage_dataset import PassageDataset
from storage.vectors.passage_rows import VectorReader
from storage.vectors.passage_store import DeepLakePassages
from tests.storage.vectors.random_vectors import SpokenVectors

TEXTS = ["1 0", "0 1", "1 1", "0 -1", "-1 0"]


@pytest.fixture
def store(tmp_path):
    made = DeepLakePassages(tmp_path, SpokenVectors())
    made.add_texts(TEXTS, ids=list("abcde"))
    return made


@pytest.fixture
def dataset(store, tmp_path):
    return PassageDataset.open(tmp_path, read_only=True)


@pytest.fixture
def opened(monkeypatch):
    """The handles that are opened from here on."""
    handles = []
    opener = PassageDataset.open

    def open_and_note(folder, *, read_only):
        handles.append(opener(folder, read_only=read_only))
        return handles[-1]

    monkeypatch.setattr(PassageDataset, "open", open_and_note)
    monkeypatch.setattr(passage_rows, "ROWS_PER_HANDLE", 2)
    return handles


def read_all(dataset):
    reader = VectorReader(dataset, len(TEXTS))
    return np.concatenate([reader.read(row, row + 1) for row in range(len(TEXTS))])


def test_many_vectors_are_read_through_several_handles(dataset, opened):
    expected = dataset.vectors(0, len(TEXTS))
    assert np.array_equal(read_all(dataset), expected)
    assert len(opened) == 3


def test_few_vectors_are_read_without_opening_the_dataset_again(dataset, opened, monkeypatch):
    monkeypatch.setattr(passage_rows, "ROWS_PER_HANDLE", len(TEXTS))
    assert len(read_all(dataset)) == len(TEXTS)
    assert opened == []


def test_a_commit_meanwhile_is_not_mixed_in(store, dataset, opened):
    expected = dataset.vectors(0, len(TEXTS))
    reader = VectorReader(dataset, len(TEXTS))
    first = reader.read(0, 1)
    store.delete(["a", "b"])
    rest = reader.read(1, len(TEXTS))
    late = VectorReader(dataset, len(TEXTS)).read(0, len(TEXTS))
    assert np.array_equal(np.concatenate([first, rest]), expected)
    assert np.array_equal(late, expected)
