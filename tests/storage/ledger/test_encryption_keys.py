import logging
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.fernet import Fernet, InvalidToken

from domain.errors import ConfigError
from storage.ledger.ledger_location import KEY_FILE
from storage.ledger.secret_store import EncryptionKeys, new_key
from tests.fakes.permissions import enforced_permissions


@pytest.fixture
def path(tmp_path):
    return tmp_path / KEY_FILE


def test_a_key_is_created_once_in_a_file_readable_only_by_its_user(tmp_path, path):
    keys = EncryptionKeys(tmp_path)
    assert keys.first() is None
    token = keys.create().encrypt(b"plain")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert EncryptionKeys(tmp_path).first().decrypt(token) == b"plain"
    assert keys.create().decrypt(token) == b"plain"
    assert not path.with_name(f"{KEY_FILE}.new").exists()


def test_concurrent_processes_create_the_same_key(tmp_path):
    program = (
        "import sys; from pathlib import Path;"
        "from storage.ledger.secret_store import EncryptionKeys;"
        "sys.stdin.read(); print(EncryptionKeys(Path(sys.argv[1])).create().encrypt(b'x').decode())"
    )
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(tmp_path)],
            cwd=Path(__file__).parents[3],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    for process in processes:
        process.stdin.close()
    tokens = [process.stdout.read() for process in processes]
    assert [process.wait(60) for process in processes] == [0] * 4
    key = EncryptionKeys(tmp_path).first()
    assert {key.decrypt(token.strip()) for token in tokens} == {b"x"}


def test_a_partial_key_of_a_killed_process_is_ignored(tmp_path, path):
    path.with_name(f"{KEY_FILE}.new").write_text("half a k")
    keys = EncryptionKeys(tmp_path)
    assert keys.first() is None
    assert keys.create() is not None


def test_the_setting_takes_precedence_but_the_key_of_the_file_still_decrypts(tmp_path):
    file_key = EncryptionKeys(tmp_path).create()
    setting = new_key()
    both = EncryptionKeys(tmp_path, setting)
    token = both.first().encrypt(b"plain")
    assert Fernet(setting).decrypt(token) == b"plain"
    with pytest.raises(InvalidToken):
        file_key.decrypt(token)
    assert [*both.all()][1].decrypt(file_key.encrypt(b"old")) == b"old"


@pytest.mark.parametrize("separator", [",", "\n", ", \n"])
def test_the_file_may_contain_several_keys(tmp_path, path, separator):
    new, old = new_key(), new_key()
    path.write_text(f"{new}{separator}{old}\n")
    first, second = EncryptionKeys(tmp_path).all()
    assert first.decrypt(Fernet(new).encrypt(b"n")) == b"n"
    assert second.decrypt(Fernet(old).encrypt(b"o")) == b"o"


@pytest.mark.parametrize("content", [b"", b"\n", b"not a key", b"\xff\x00" * 30, b"A" * 43])
def test_damaged_key_files_are_reported_and_stay_unchanged(tmp_path, path, content):
    path.write_bytes(content)
    with pytest.raises(ConfigError, match="empty or damaged.*FOOTNOTE_ENCRYPTION_KEY") as caught:
        EncryptionKeys(tmp_path).first()
    assert str(path) in str(caught.value)
    assert "not a key" not in str(caught.value)
    assert path.read_bytes() == content


def test_a_damaged_key_file_does_not_matter_if_the_setting_has_a_key(tmp_path, path):
    path.write_text("")
    assert EncryptionKeys(tmp_path, new_key()).first() is not None


def test_permissions_of_a_readable_key_file_are_fixed_with_a_warning(tmp_path, path, caplog):
    caplog.set_level(logging.WARNING)
    EncryptionKeys(tmp_path).create()
    path.chmod(0o644)
    assert EncryptionKeys(tmp_path).first() is not None
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "permissions fixed" in caplog.text


def test_a_readable_key_file_of_another_user_is_reported(tmp_path, path, caplog, monkeypatch):
    EncryptionKeys(tmp_path).create()
    path.chmod(0o640)
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert EncryptionKeys(tmp_path).first() is not None
    assert "chmod 600" in caplog.text


def test_an_unreadable_key_file_is_reported(tmp_path, path):
    EncryptionKeys(tmp_path).create()
    path.chmod(0)
    with enforced_permissions(), pytest.raises(ConfigError, match=r"encryption\.key can't be read"):
        EncryptionKeys(tmp_path).first()


def test_the_error_for_a_read_only_folder_names_the_alternative_settings(tmp_path):
    tmp_path.chmod(0o500)
    message = r"encryption\.key \(Permission denied\).*FOOTNOTE_ENCRYPTION_KEY.*FOOTNOTE_SECRET_"
    with enforced_permissions(), pytest.raises(ConfigError, match=message):
        EncryptionKeys(tmp_path).create()
    tmp_path.chmod(0o700)


def test_the_repr_does_not_contain_the_key(tmp_path):
    key = new_key()
    assert key not in repr(EncryptionKeys(tmp_path, key))
