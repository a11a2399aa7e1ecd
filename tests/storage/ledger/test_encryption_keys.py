import logging
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.fernet import Fernet, InvalidToken

from errors import ConfigError
from storage.ledger.secret_store import KEY_FILE, EncryptionKeys, new_key
from tests.fakes.permissions import permissions_hold


@pytest.fixture
def path(tmp_path):
    return tmp_path / KEY_FILE


def test_a_key_is_made_once_in_a_file_for_its_user_alone(tmp_path, path):
    keys = EncryptionKeys(tmp_path)
    assert keys.first() is None
    token = keys.create().encrypt(b"plain")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert EncryptionKeys(tmp_path).first().decrypt(token) == b"plain"
    assert keys.create().decrypt(token) == b"plain"
    assert not path.with_name(f"{KEY_FILE}.new").exists()


def test_processes_that_make_it_at_once_agree_on_one_key(tmp_path):
    program = (
        "import sys; from pathlib import Path;"
        "from storage.ledger.secret_store import EncryptionKeys;"
        "sys.stdin.read(); print(EncryptionKeys(Path(sys.argv[1])).create().encrypt(b'x').decode())"
    )
    started = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(tmp_path)],
            cwd=Path(__file__).parents[3],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    for process in started:
        process.stdin.close()
    tokens = [process.stdout.read() for process in started]
    assert [process.wait(60) for process in started] == [0] * 4
    key = EncryptionKeys(tmp_path).first()
    assert {key.decrypt(token.strip()) for token in tokens} == {b"x"}


def test_what_a_killed_process_left_half_made_is_no_key(tmp_path, path):
    path.with_name(f"{KEY_FILE}.new").write_text("half a k")
    keys = EncryptionKeys(tmp_path)
    assert keys.first() is None
    assert keys.create() is not None


def test_the_setting_comes_first_and_the_file_still_decrypts(tmp_path):
    of_file = EncryptionKeys(tmp_path).create()
    setting = new_key()
    both = EncryptionKeys(tmp_path, setting)
    token = both.first().encrypt(b"plain")
    assert Fernet(setting).decrypt(token) == b"plain"
    with pytest.raises(InvalidToken):
        of_file.decrypt(token)
    assert [*both.all()][1].decrypt(of_file.encrypt(b"old")) == b"old"


@pytest.mark.parametrize("separator", [",", "\n", ", \n"])
def test_the_file_may_hold_several_keys(tmp_path, path, separator):
    new, old = new_key(), new_key()
    path.write_text(f"{new}{separator}{old}\n")
    first, second = EncryptionKeys(tmp_path).all()
    assert first.decrypt(Fernet(new).encrypt(b"n")) == b"n"
    assert second.decrypt(Fernet(old).encrypt(b"o")) == b"o"


@pytest.mark.parametrize("content", [b"", b"\n", b"not a key", b"\xff\x00" * 30, b"A" * 43])
def test_a_damaged_file_is_named_left_as_it_is_and_not_shown(tmp_path, path, content):
    path.write_bytes(content)
    with pytest.raises(ConfigError, match="empty or damaged.*FOOTNOTE_ENCRYPTION_KEY") as caught:
        EncryptionKeys(tmp_path).first()
    assert str(path) in str(caught.value)
    assert "not a key" not in str(caught.value)
    assert path.read_bytes() == content


def test_a_damaged_file_is_no_hindrance_where_the_setting_does(tmp_path, path):
    path.write_text("")
    assert EncryptionKeys(tmp_path, new_key()).first() is not None


def test_a_file_that_others_could_read_is_closed_and_told(tmp_path, path, caplog):
    caplog.set_level(logging.WARNING)
    EncryptionKeys(tmp_path).create()
    path.chmod(0o644)
    assert EncryptionKeys(tmp_path).first() is not None
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "permissions fixed" in caplog.text


def test_a_file_of_another_user_that_others_can_read_is_told(tmp_path, path, caplog, monkeypatch):
    EncryptionKeys(tmp_path).create()
    path.chmod(0o640)
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert EncryptionKeys(tmp_path).first() is not None
    assert "chmod 600" in caplog.text


def test_a_file_that_may_not_be_read_is_named(tmp_path, path):
    EncryptionKeys(tmp_path).create()
    path.chmod(0)
    with permissions_hold(), pytest.raises(ConfigError, match=r"encryption\.key can't be read"):
        EncryptionKeys(tmp_path).first()


def test_a_folder_that_may_not_be_written_is_told_with_what_else_there_is(tmp_path):
    tmp_path.chmod(0o500)
    told = r"encryption\.key \(Permission denied\).*FOOTNOTE_ENCRYPTION_KEY.*FOOTNOTE_SECRET_"
    with permissions_hold(), pytest.raises(ConfigError, match=told):
        EncryptionKeys(tmp_path).create()
    tmp_path.chmod(0o700)


def test_nothing_of_a_key_is_in_its_representation(tmp_path):
    key = new_key()
    assert key not in repr(EncryptionKeys(tmp_path, key))
