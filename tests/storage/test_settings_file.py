import json
import os
import stat
import threading

import pytest

from domain.errors import ConfigError, StorageError
from storage.ledger.secret_store import EncryptionKeys, new_key
from storage.settings_file import DAMAGED_FILE, SettingsFile

SECRET = "sk-very-secret"
KNOWN = ("chat_model", "openai_api_key", "language")


@pytest.fixture
def file(tmp_path):
    return SettingsFile(tmp_path, EncryptionKeys(tmp_path), KNOWN)


def test_without_a_file_nothing_is_stored(file, tmp_path):
    assert file.read() == ({}, ())
    assert SettingsFile(tmp_path, EncryptionKeys(tmp_path), KNOWN).stamp() == ""


def test_values_are_read_back_and_removed(file):
    file.write({"chat_model": "qwen3", "language": "ko"})
    assert file.read() == ({"chat_model": "qwen3", "language": "ko"}, ())
    file.write({"chat_model": None})
    assert file.read() == ({"language": "ko"}, ())


def test_a_secret_is_encrypted_at_rest(file, tmp_path):
    file.write({"openai_api_key": file.encrypt(SECRET)})
    assert file.read().values == {"openai_api_key": SECRET}
    for path in tmp_path.iterdir():
        assert SECRET.encode() not in path.read_bytes()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_the_file_is_private(file):
    file.write({"chat_model": "qwen3"})
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600


def test_each_change_changes_the_stamp(file, tmp_path):
    stamps = {SettingsFile(tmp_path, EncryptionKeys(tmp_path), KNOWN).stamp()}
    for model in ("a", "b", "a"):
        file.write({"chat_model": model})
        stamps.add(SettingsFile(tmp_path, EncryptionKeys(tmp_path), KNOWN).stamp())
    assert len(stamps) == 4


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"\xff\xfe", b"[" * 100_000])
def test_a_damaged_file_is_reported_and_not_lost(content, file, tmp_path):
    file.path.write_bytes(content)
    values, problems = file.read()
    assert values == {}
    assert len(problems) == 1
    assert str(file.path) in problems[0]
    file.write({"chat_model": "qwen3"})
    assert file.read() == ({"chat_model": "qwen3"}, ())
    assert (tmp_path / DAMAGED_FILE).read_bytes() == content


def test_a_damaged_file_does_not_replace_an_earlier_one(file, tmp_path):
    for n, name in enumerate([DAMAGED_FILE, f"{DAMAGED_FILE}.2", f"{DAMAGED_FILE}.3"]):
        file.path.write_text(f"{{{n}")
        assert f"renames the file to {name}." in file.read().problems[0]
        file.write({"chat_model": "qwen3"})
        assert (tmp_path / name).read_text() == f"{{{n}"


def test_a_file_that_cannot_be_read_is_reported_and_not_replaced(file, monkeypatch):
    file.write({"openai_api_key": file.encrypt(SECRET)})
    before = file.path.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr("pathlib.Path.read_text", denied)
        assert file.read().values == {}
        assert "can't be read (denied)" in file.read().problems[0]
        for call in (file.rotate, lambda: file.write({"language": "ko"})):
            with pytest.raises(StorageError, match="can't be read"):
                call()
    assert file.path.read_bytes() == before
    assert not file.path.with_name(DAMAGED_FILE).exists()


def denied(*_, **__):
    raise PermissionError(13, "denied")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_new_permissions_change_the_stamp(file, tmp_path):
    file.write({"language": "ko"})
    before = SettingsFile(tmp_path, EncryptionKeys(tmp_path), KNOWN).stamp()
    file.path.chmod(0o400)
    assert SettingsFile(tmp_path, EncryptionKeys(tmp_path), KNOWN).stamp() != before


def test_the_secrets_of_a_damaged_file_are_not_reported_as_encrypted_again(file):
    assert file.rotate() == 0
    file.path.write_text("{")
    with pytest.raises(ConfigError, match="is damaged"):
        file.rotate()


def test_a_rotation_does_not_replace_a_newer_secret(file, tmp_path):
    file.write({"openai_api_key": file.encrypt(SECRET)})
    other = SettingsFile(tmp_path, EncryptionKeys(tmp_path), KNOWN)
    encrypt, writers = file.encrypt, []

    def encrypt_during_a_change(secret):
        newer = {"openai_api_key": encrypt("sk-newer")}
        writers.append(threading.Thread(target=other.write, args=(newer,)))
        writers[0].start()
        writers[0].join(0.2)
        return encrypt(secret)

    file.encrypt = encrypt_during_a_change
    assert file.rotate() == 1
    writers[0].join(20)
    assert file.read().values == {"openai_api_key": "sk-newer"}


def test_an_unknown_entry_is_reported_and_preserved(file):
    file.path.write_text('{"chat_modle": "qwen3", "language": "ja"}')
    values, problems = file.read()
    assert values == {"language": "ja"}
    assert "chat_modle" in problems[0]
    file.write({"language": "ko"})
    assert json.loads(file.path.read_text()) == {"chat_modle": "qwen3", "language": "ko"}


def test_a_secret_of_another_key_is_reported_and_preserved(tmp_path):
    before = SettingsFile(tmp_path, EncryptionKeys(tmp_path, new_key()), KNOWN)
    before.write({"openai_api_key": before.encrypt(SECRET)})
    file = SettingsFile(tmp_path, EncryptionKeys(tmp_path, new_key()), KNOWN)
    values, problems = file.read()
    assert values == {}
    assert "openai_api_key" in problems[0]
    file.write({"chat_model": "qwen3"})
    assert before.read().values == {"openai_api_key": SECRET, "chat_model": "qwen3"}
    with pytest.raises(ConfigError, match="openai_api_key"):
        file.rotate()


def test_secrets_are_encrypted_again_with_the_first_key(tmp_path):
    old, new = new_key(), new_key()
    before = SettingsFile(tmp_path, EncryptionKeys(tmp_path, old), KNOWN)
    before.write({"openai_api_key": before.encrypt(SECRET), "language": "ko"})
    assert SettingsFile(tmp_path, EncryptionKeys(tmp_path, f"{new},{old}"), KNOWN).rotate() == 1
    after = SettingsFile(tmp_path, EncryptionKeys(tmp_path, new), KNOWN)
    assert after.read().values == {"openai_api_key": SECRET, "language": "ko"}


def test_an_unwritable_folder_is_reported(tmp_path):
    (tmp_path / "file").write_text("")
    file = SettingsFile(tmp_path / "file", EncryptionKeys(tmp_path), KNOWN)
    with pytest.raises(StorageError, match="settings.json"):
        file.write({"language": "ko"})


def test_earlier_entries_are_restored(file):
    file.write({"openai_api_key": file.encrypt(SECRET)})
    before = file.entries(["openai_api_key", "language"])
    assert SECRET not in str(before)
    file.write({"openai_api_key": None, "language": "ko"})
    file.write(before)
    assert file.read().values == {"openai_api_key": SECRET}
