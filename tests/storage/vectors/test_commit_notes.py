"""Notes from which other processes learn what a commit changed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.vectors import passage_dataset
from storage.vectors.passage_dataset import Change, Changes

COMMITS = st.lists(
    st.tuples(st.lists(st.floats(0, 0.999), max_size=4), st.integers(0, 5)), max_size=8
)


@pytest.fixture
def notes(tmp_path):
    return Changes(tmp_path)


def test_a_version_has_no_changes_since_itself(notes):
    assert notes.between("5", "5", 3) == Change([], 0)


@given(commits=COMMITS)
def test_several_commits_are_combined_into_one_change(tmp_path_factory, commits):
    notes = Changes(tmp_path_factory.mktemp("notes"))
    before = [f"old{n}" for n in range(6)]
    now = list(before)
    for number, (positions, added) in enumerate(commits):
        deleted = sorted({int(position * len(now)) for position in positions}) if now else []
        now = [name for row, name in enumerate(now) if row not in deleted]
        now += [f"new{number}-{n}" for n in range(added)]
        notes.note(f"v{number:02}", f"v{number + 1:02}", Change(deleted, added))
    change = notes.between("v00", f"v{len(commits):02}", len(before))
    remaining = [name for row, name in enumerate(before) if row not in change.deleted]
    assert remaining == [name for name in now if name.startswith("old")]
    assert change.added == len(now) - len(remaining)


def test_a_missing_note_makes_the_change_unknown(notes, tmp_path):
    for n in range(3):
        notes.note(str(n), str(n + 1), Change([], 1))
    (tmp_path / "changes" / "1.json").unlink()
    assert notes.between("0", "3", 0) is None
    assert notes.between("2", "3", 2) == Change([], 1)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        "[" * 100_000,
        '{"after": "1", "gone": [7], "added": 0}',
        '{"after": "1", "gone": [-1], "added": 0}',
        '{"after": "1", "gone": [1, 0], "added": 0}',
        '{"after": "1", "gone": [1, 1], "added": 0}',
        '{"after": "1", "gone": [], "added": -1}',
        '{"after": "1", "gone": [], "added": 1e999}',
        '{"after": "1", "gone": [], "added": 1000000000000}',
    ],
)
def test_invalid_notes_make_the_change_unknown(notes, tmp_path, text):
    (tmp_path / "changes").mkdir()
    (tmp_path / "changes" / "0.json").write_text(text)
    assert notes.between("0", "1", 3) is None


def test_old_notes_are_deleted(notes, tmp_path, monkeypatch):
    monkeypatch.setattr(passage_dataset, "MAX_CHANGES", 2)
    for n in range(5):
        notes.note(str(n), str(n + 1), Change([], 1))
    assert {file.name for file in (tmp_path / "changes").iterdir()} == {"3.json", "4.json"}


def test_a_commit_that_deletes_nearly_everything_leaves_no_note(notes, tmp_path):
    notes.note("0", "1", Change(np.arange(passage_dataset.MAX_DELETED + 1).tolist(), 0))
    assert notes.between("0", "1", passage_dataset.MAX_DELETED + 1) is None
