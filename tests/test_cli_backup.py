"""`cli.py backup` and `restore`, from an import to the same answer in another folder."""

import json
import os
import stat

import pytest

QUESTION = "How many days of annual leave do new employees get?"


def ask(line, folder):
    answer = json.loads(line.run("ask", QUESTION, "--json", "--data-dir", folder).stdout)
    evidence = [(one["quote"], one["state"], one["location"]) for one in answer["citations"]]
    return answer["answer"], evidence


@pytest.fixture
def backup(line, imported, tmp_path):
    imported()
    target = tmp_path / "library.tar.gz"
    line.run("backup", target)
    return target


def test_a_restored_library_answers_like_the_original(line, backup, tmp_path, model_cache):
    restored = tmp_path / "restored"
    output = line.run("restore", backup, "--data-dir", restored).stdout
    assert f"Restored to {restored}: 1 sources, 4 documents" in output
    assert "4 documents, 5 passages: all agree." in output
    (restored / "cache").symlink_to(model_cache)
    answer, evidence = ask(line, restored)
    assert (answer, evidence) == ask(line, line.data_dir)
    assert "25 days" in evidence[0][0]
    assert evidence[0][1] == "verified"


def test_the_output_says_what_is_in_the_file_and_where_the_key_must_go(line, backup, tmp_path):
    output = line.run("backup", tmp_path).stdout
    assert f"{tmp_path}/footnote-2" in output
    assert "4 documents, 5 passages, 0 conversations, 0 uploaded files; verified." in output
    assert "encryption key" not in output
    (line.data_dir / "encryption.key").write_text("key")
    output = line.run("backup", tmp_path / "other").stdout
    assert f"keep a copy of {line.data_dir}/encryption.key in another place" in output
    assert stat.S_IMODE((tmp_path / "other").stat().st_mode) == 0o600 or os.name == "nt"


def test_a_backup_can_be_checked_without_restoring_it(line, backup, tmp_path):
    output = line.run("restore", backup, "--check", "--data-dir", tmp_path / "unused").stdout
    assert f"{backup} is intact: 1 sources, 4 documents, 5 passages" in output
    assert not (tmp_path / "unused").exists()
    backup.write_bytes(backup.read_bytes()[:-100])
    error = line.run("restore", backup, "--check", code=1).stderr
    assert "is damaged or is not a backup of Footnote" in error


def test_a_library_is_not_replaced(line, backup):
    before = (line.data_dir / "footnote.db").read_bytes()
    error = line.run("restore", backup, code=1).stderr
    assert f"The data folder {line.data_dir} is not empty" in error
    assert (line.data_dir / "footnote.db").read_bytes() == before


def test_an_existing_file_is_not_replaced(line, backup):
    assert f"{backup} exists already" in line.run("backup", backup, code=1).stderr


def test_a_mistyped_data_folder_is_not_backed_up(line, tmp_path):
    error = line.run("backup", tmp_path / "b", "--data-dir", tmp_path / "typo", code=1).stderr
    assert "There is no data folder" in error
    assert not (tmp_path / "b").exists()
    assert not (tmp_path / "typo").exists()


def test_a_damaged_index_is_reported_after_restoring(line, imported, tmp_path):
    imported()
    for file in line.data_dir.rglob("*.store"):
        file.write_bytes(b"\0" * file.stat().st_size)
    line.run("backup", tmp_path / "b")
    output = line.run("restore", tmp_path / "b", "--data-dir", tmp_path / "new", code=3).stdout
    assert "the keyword index is damaged" in output
    assert f"`python cli.py reindex --data-dir {tmp_path}/new` repairs it." in output


def test_a_database_elsewhere_is_not_mistaken_for_the_restored_one(line, backup, tmp_path):
    url = f"sqlite:///{tmp_path / 'elsewhere.db'}"
    error = line.run(
        "restore", backup, "--data-dir", tmp_path / "new", code=1, FOOTNOTE_DATABASE_URL=url
    ).stderr
    assert "FOOTNOTE_DATABASE_URL names another database: unset it" in error
    assert not (tmp_path / "new").exists()
