"""Vectors are read through short-lived handles but always from one version of the dataset."""

import numpy as np
import pytest

from storage.vectors import passage_rows
from storage.vectors.passage_dataset import PassageDataset
from storage.vectors.passage_rows import VectorReader
from storage.vectors.passage_store import DeepLakePassages
from tests.storage.vectors.random_vectors import TextVectors

TEXTS = ["1 0", "0 1", "1 1", "0 -1", "-1 0"]


@pytest.fixture
def store(tmp_path):
    store = DeepLakePassages(tmp_path, TextVectors())
    store.add_texts(TEXTS, ids=list("abcde"))
    return store


@pytest.fixture
def dataset(store, tmp_path):
    return PassageDataset.open(tmp_path, read_only=True)


@pytest.fixture
def opened_handles(monkeypatch):
    """The dataset handles opened during the test."""
    handles = []
    original_open = PassageDataset.open

    def recording_open(folder, *, read_only):
        handles.append(original_open(folder, read_only=read_only))
        return handles[-1]

    monkeypatch.setattr(PassageDataset, "open", recording_open)
    monkeypatch.setattr(passage_rows, "ROWS_PER_HANDLE", 2)
    return handles


def read_all(dataset):
    reader = VectorReader(dataset, len(TEXTS))
    return np.concatenate([reader.read(row, row + 1) for row in range(len(TEXTS))])


def test_many_vectors_are_read_through_several_handles(dataset, opened_handles):
    expected = dataset.vectors(0, len(TEXTS))
    assert np.array_equal(read_all(dataset), expected)
    assert len(opened_handles) == 3


def test_few_vectors_are_read_without_reopening_the_dataset(dataset, opened_handles, monkeypatch):
    monkeypatch.setattr(passage_rows, "ROWS_PER_HANDLE", len(TEXTS))
    assert len(read_all(dataset)) == len(TEXTS)
    assert opened_handles == []


def test_a_concurrent_commit_does_not_affect_a_reader(store, dataset, opened_handles):
    expected = dataset.vectors(0, len(TEXTS))
    reader = VectorReader(dataset, len(TEXTS))
    first = reader.read(0, 1)
    store.delete(["a", "b"])
    rest = reader.read(1, len(TEXTS))
    late = VectorReader(dataset, len(TEXTS)).read(0, len(TEXTS))
    assert np.array_equal(np.concatenate([first, rest]), expected)
    assert np.array_equal(late, expected)
