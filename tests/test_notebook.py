"""docs/notebook.ipynb, run from its first cell to its last."""

import json

import pytest

from domain import CitationState
from tests.test_architecture import ROOT

NOTEBOOK = json.loads((ROOT / "docs" / "notebook.ipynb").read_text(encoding="utf-8"))


@pytest.fixture
def cells():
    return ["".join(cell["source"]) for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]


def test_the_notebook_is_stored_without_outputs():
    for cell in NOTEBOOK["cells"]:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None
    assert NOTEBOOK["nbformat"] == 4


def test_all_cells_run_and_show_what_their_texts_promise(
    cells, tmp_path, monkeypatch, model_cache, capsys
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notebook-data").mkdir()
    (tmp_path / "notebook-data" / "cache").symlink_to(model_cache)
    scope, printed = {}, []
    for cell in cells:
        exec(compile(cell, "notebook", "exec"), scope)
        printed.append(capsys.readouterr().out)
    _opened, imported, asked, follow_up, streamed, _history, retrieved = printed
    assert "completed" in imported
    assert "leave.md" in imported
    assert "vpn.md" in imported
    assert "25 days" in asked
    assert {one.state for one in scope["turn"].citations} == {CitationState.VERIFIED}
    assert "27 days" in follow_up.partition("->")[2]
    assert "Bristol" in streamed
    assert "27 days" in scope["output"]["answer"]
    assert scope["output"]["source_documents"]
    assert retrieved.startswith("VPN ")
