"""Reading from a mistyped data folder is an error that names it, and creates nothing."""

import pytest

import bootstrap
from domain import LOCAL_USER
from domain.errors import StorageError
from storage.data_folder import require_data_folder
from tests.fakes.command_line import CommandLine
from tests.fakes.openai import EMBEDDING_MODEL

READING = [
    ["ask", "How long?"],
    ["search", "leave"],
    ["check"],
    ["reindex"],
    ["ratings"],
    ["labels", "export", "labels"],
    ["evaluate", "--labels"],
    ["api-key", "list"],
    ["encryption-key", "--rotate"],
    ["catalog", "search", "ramen"],
]


@pytest.fixture
def mistyped(tmp_path):
    """The command line, whose data folder does not exist."""
    return CommandLine(tmp_path / "dtaa", tmp_path)


@pytest.mark.parametrize("command", READING, ids=" ".join)
def test_a_command_that_reads_names_the_missing_folder_and_creates_nothing(mistyped, command):
    result = mistyped.run(*command, code=1)
    assert f"There is no data folder {mistyped.data_dir}: " in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not mistyped.data_dir.exists()


def test_the_option_names_the_folder_as_well(mistyped, tmp_path):
    result = mistyped.run("search", "leave", "--data-dir", "typo", code=1)
    assert f"There is no data folder {tmp_path / 'typo'}: " in result.stderr
    assert not (tmp_path / "typo").exists()


def test_the_default_folder_is_not_created_either(mistyped, tmp_path):
    result = mistyped.run("ask", "How long?", code=1, FOOTNOTE_DATA_DIR="")
    assert f"There is no data folder {tmp_path / 'data'}: " in result.stderr
    assert not (tmp_path / "data").exists()


def test_another_folder_is_neither_changed_nor_closed_to_others(mistyped, handbook):
    handbook.chmod(0o755)
    before = sorted(handbook.iterdir())
    result = mistyped.run("ask", "How long?", "--data-dir", handbook, code=1)
    assert f"{handbook} contains files, but none of Footnote" in result.stderr
    assert sorted(handbook.iterdir()) == before
    assert handbook.stat().st_mode & 0o777 == 0o755


def test_importing_creates_the_folder_and_then_it_can_be_read(mistyped, handbook, model_server):
    mistyped.environment = {
        "FOOTNOTE_EMBEDDING_PROVIDER": "openai",
        "FOOTNOTE_EMBEDDING_MODEL": EMBEDDING_MODEL,
        "FOOTNOTE_EMBEDDING_BASE_URL": model_server.url,
    }
    mistyped.run("import", handbook)
    assert "vpn.md" in mistyped.run("search", "WireGuard", "--mode", "bm25").stdout


def test_creating_an_api_key_creates_the_folder(mistyped):
    mistyped.run("api-key", "create", "agent", "--scope", "read")
    assert "agent" in mistyped.run("api-key", "list").stdout


def test_an_empty_folder_is_a_data_folder(mistyped):
    mistyped.data_dir.mkdir()
    assert "The library is empty" in mistyped.run("search", "leave").stderr


def test_a_file_is_not_reported_as_a_missing_folder(mistyped, tmp_path):
    file = tmp_path / "notes.md"
    file.write_text("# Notes")
    result = mistyped.run("search", "leave", "--data-dir", file, code=1)
    assert "There is no data folder" not in result.stderr
    assert str(file) in result.stderr


@pytest.mark.parametrize("name", ["footnote.db", "cache", "settings.json"])
def test_a_file_of_footnote_makes_it_a_data_folder(tmp_path, name):
    (tmp_path / "notes.md").write_text("# Notes")
    with pytest.raises(StorageError, match="none of Footnote"):
        require_data_folder(tmp_path)
    (tmp_path / name).touch()
    require_data_folder(tmp_path)


@pytest.mark.parametrize("name", [".gitkeep", "lost+found"])
def test_a_folder_without_visible_files_counts_as_empty(tmp_path, name):
    (tmp_path / name).touch()
    require_data_folder(tmp_path)


def test_services_create_the_folder_unless_it_must_exist(tmp_path):
    with pytest.raises(StorageError, match="There is no data folder"):
        bootstrap.build_services(data_dir=tmp_path / "new", must_exist=True)
    assert not (tmp_path / "new").exists()
    bootstrap.build_services(data_dir=tmp_path / "new")
    assert (tmp_path / "new" / "footnote.db").exists()


def test_a_ledger_elsewhere_needs_no_data_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("FOOTNOTE_DATABASE_URL", f"sqlite:///{tmp_path / 'ledger.db'}")
    services = bootstrap.build_services(data_dir=tmp_path / "new", must_exist=True)
    assert not services.library.status(LOCAL_USER).documents
