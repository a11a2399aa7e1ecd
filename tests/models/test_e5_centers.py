"""The mean of a language is subtracted from its vectors, so that no language is favored."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import ConfigError
from models import builtin_models
from models.builtin_models import CENTERS, SCRIPTS, SHARE, subtract_center

WIDTH = 384


def vector(seed):
    values = np.random.default_rng(seed).normal(size=WIDTH).astype(np.float32)
    return values / np.linalg.norm(values)


@given(st.integers(0, 1000), st.text(max_size=20), st.booleans())
def test_centered_vectors_have_length_one(seed, text, is_question):
    moved = subtract_center(vector(seed), text, is_question=is_question)
    assert np.linalg.norm(moved) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(
    ("text", "row"), [("annual leave", 0), ("연차 휴가", 1), ("年休の日数は？", 2), ("年次休暇", 2)]
)
@pytest.mark.parametrize("is_question", [False, True])
def test_the_mean_of_the_script_and_role_is_subtracted(text, row, is_question):
    mean = np.load(CENTERS)[int(is_question), row]
    expected = vector(1) - SHARE * mean
    result = subtract_center(vector(1), text, is_question=is_question)
    assert result == pytest.approx(expected / np.linalg.norm(expected), abs=1e-6)


def test_the_mean_of_all_languages_is_subtracted_for_other_scripts():
    mean = np.load(CENTERS)[0].mean(axis=0)
    expected = vector(2) - SHARE * mean
    for text in ("ежегодный отпуск", "42", ""):
        result = subtract_center(vector(2), text, is_question=False)
        assert result == pytest.approx(expected / np.linalg.norm(expected), abs=1e-6)


def test_each_script_has_a_mean_for_passages_and_for_questions():
    means = np.load(CENTERS)
    assert means.shape == (2, len(SCRIPTS), WIDTH)
    assert np.isfinite(means).all()


@pytest.mark.parametrize("damage", [None, b"", b"no array"])
def test_a_missing_or_damaged_file_is_reported(tmp_path, monkeypatch, damage):
    path = tmp_path / "e5_centers.npy"
    if damage is not None:
        path.write_bytes(damage)
    monkeypatch.setattr(builtin_models, "CENTERS", path)
    builtin_models._means.cache_clear()
    with pytest.raises(ConfigError, match=f"{path} can't be read.*Restore"):
        subtract_center(vector(3), "leave", is_question=True)
    builtin_models._means.cache_clear()
