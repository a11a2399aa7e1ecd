"""Only the user who runs Footnote may read the data folder, whichever process writes to it."""

import os
import stat
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from domain import LOCAL_USER
from tests.fakes.openai import EMBEDDING_MODEL

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
APP = Path(__file__).parents[1] / "app.py"
PRIVATE = {"folder": 0o700, "file": 0o600}


def paths_with_other_modes(folder: Path) -> list[str]:
    """Paths in the folder with an unexpected mode; symlink targets are ignored."""
    paths = [folder, *(path for path in folder.rglob("*") if not path.is_symlink())]
    assert len(paths) > 3
    return [
        f"{path.relative_to(folder)}: {stat.S_IMODE(path.stat().st_mode):o}"
        for path in paths
        if stat.S_IMODE(path.stat().st_mode) != PRIVATE["folder" if path.is_dir() else "file"]
    ]


def test_all_files_that_services_write_are_private(build_services, handbook, tmp_path):
    data = tmp_path / "private"
    services = build_services(data_dir=data)
    assert paths_with_other_modes(data) == []
    services.directories.import_directory(LOCAL_USER, handbook)
    assert paths_with_other_modes(data) == []
    assert services.chat.ask(LOCAL_USER, "How many days of annual leave?").answer
    added = services.uploads.add(LOCAL_USER, [("a.md", b"# Lunch\n\nAt noon.")], box="Rules")
    services.sources.refresh(LOCAL_USER, added.source_id)
    assert services.worker.run_next()
    assert paths_with_other_modes(data) == []
    services.source_secrets.value("a secret")
    reindexed = build_services(data_dir=data, passage_chars=500)
    reindexed.maintenance.reindex(LOCAL_USER)
    assert (data / "encryption.key").exists()
    assert paths_with_other_modes(data) == []


def test_files_of_an_earlier_version_become_private_at_the_next_start(
    build_services, imported, tmp_path
):
    data = imported(data_dir=tmp_path / "old", embed=True).parts.settings.data_dir
    for path in (data, *data.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    build_services(data_dir=data, embed=True)
    assert paths_with_other_modes(data) == []


def test_commands_keep_files_private(line, handbook):
    line.run("import", handbook)
    line.run("ask", "How many days of annual leave?")
    assert paths_with_other_modes(line.data_dir) == []


def test_pages_started_without_the_command_line_keep_files_private(
    tmp_path, monkeypatch, model_server
):
    data = tmp_path / "above" / "data"
    monkeypatch.setenv("FOOTNOTE_DATA_DIR", str(data))
    monkeypatch.setenv("FOOTNOTE_EMBEDDING_PROVIDER", "openai")
    monkeypatch.setenv("FOOTNOTE_EMBEDDING_MODEL", EMBEDDING_MODEL)
    monkeypatch.setenv("FOOTNOTE_EMBEDDING_BASE_URL", model_server.url)
    st.cache_resource.clear()
    page = AppTest.from_file(str(APP), default_timeout=60).run()
    st.cache_resource.clear()
    assert not page.exception
    assert (data / "footnote.db").exists()
    assert paths_with_other_modes(data) == []
