"""The stored settings in the ledger; on SQLite, only what needs no other process."""

import threading

import pytest

from domain.errors import BusyError, ConfigError, StorageUnavailableError
from domain.public_messages import message_for_everyone
from storage import settings_table
from storage.ledger.ledger_location import KEY_FILE
from storage.ledger.secret_store import EncryptionKeys, new_key
from storage.ledger.session_lock import SETTINGS
from storage.safe_writes import just_wait
from storage.settings_table import SettingsTable
from tests.postgresql.ledgers import open_ledger

pytestmark = pytest.mark.usefixtures("ledger_kind")
SECRET = "sk-very-secret"
KNOWN = ("chat_model", "openai_api_key", "language")


@pytest.fixture
def open_table(tmp_path):
    """The table as a process with this key, and a folder of its own, opens it."""

    def open_table(key=""):
        folder = tmp_path / (key or "without")
        folder.mkdir(exist_ok=True)
        return SettingsTable(open_ledger(tmp_path / "data"), EncryptionKeys(folder, key), KNOWN)

    return open_table


@pytest.fixture
def key_file(tmp_path):
    """The key file of the process without a key."""
    return tmp_path / "without" / KEY_FILE


@pytest.fixture
def at_once(monkeypatch):
    """Changes of other processes are noticed by the next call."""
    monkeypatch.setattr(settings_table, "_QUERY_INTERVAL_S", 0)


def test_nothing_is_stored_at_first(open_table):
    table = open_table()
    assert table.stamp() == ""
    assert table.read() == ({}, ())


def test_values_are_read_back_and_removed(open_table):
    table = open_table()
    table.write({"chat_model": "qwen3", "language": "ko"})
    assert open_table().read() == ({"chat_model": "qwen3", "language": "ko"}, ())
    table.write({"chat_model": None})
    assert open_table().read() == ({"language": "ko"}, ())
    assert open_table().entries(KNOWN) == dict.fromkeys(KNOWN) | {"language": "ko"}


def test_each_change_of_any_process_changes_the_stamp(open_table, at_once):
    table, other, stamps = open_table(), open_table(), set()
    for model in ("a", "b", "a"):
        other.write({"chat_model": model})
        stamps |= {table.stamp(), table.stamp()}
        assert table.read().values == {"chat_model": model}
    assert len(stamps) == 3


def test_the_table_is_read_at_most_once_per_second(open_table, monkeypatch):
    monkeypatch.setattr(settings_table, "_QUERY_INTERVAL_S", 3600)
    table, other = open_table(), open_table()
    before = table.stamp()
    other.write({"chat_model": "qwen3"})
    assert table.stamp() == before
    with table.locked():
        assert table.read().values == {"chat_model": "qwen3"}


def test_a_secret_is_encrypted_and_unknown_entries_are_preserved(open_table):
    table = open_table(new_key())
    table.write({"openai_api_key": table.encrypt(SECRET), "later": [1]})
    assert SECRET not in str(table.all_entries())
    values, [problem] = table.read()
    assert values == {"openai_api_key": SECRET}
    assert "unknown entry, later" in problem
    table.write({"language": "ja"})
    assert table.all_entries()["later"] == [1]


def test_a_secret_of_another_key_is_a_problem(open_table):
    table = open_table(new_key())
    table.write({"openai_api_key": table.encrypt(SECRET), "language": "ko"})
    values, [problem] = open_table(new_key()).read()
    assert values == {"language": "ko"}
    assert "another key" in problem


def test_secrets_are_encrypted_again_with_the_first_key(open_table):
    old, new = new_key(), new_key()
    table = open_table(old)
    table.write({"openai_api_key": table.encrypt(SECRET)})
    table.require_key()
    both = open_table(f"{new},{old}")
    both.require_key()
    assert both.rotate() == 1
    after = open_table(new)
    after.require_key()
    assert after.read().values == {"openai_api_key": SECRET}
    with pytest.raises(ConfigError, match="not that of the library"):
        open_table(old).require_key()


def test_entries_of_the_file_are_taken_over_once(open_table):
    table = open_table(new_key())
    table.require_key()
    assert table.take_over({"chat_model": "qwen3"})
    table.write({"chat_model": None})
    assert not open_table().take_over({"chat_model": "qwen3"})
    assert open_table().all_entries() == {}


def test_replacing_leaves_nothing_else(open_table):
    table = open_table(new_key())
    table.write({"chat_model": "qwen3"})
    table.require_key()
    table.replace({"language": "ko"})
    assert open_table().all_entries() == {"language": "ko"}
    open_table(new_key()).require_key()


def test_the_first_process_determines_the_key(open_table):
    key = new_key()
    open_table(key).require_key()
    open_table(key).require_key()
    for other in ("", new_key()):
        with pytest.raises(ConfigError, match="set the same FOOTNOTE_ENCRYPTION_KEY"):
            open_table(other).require_key()


def test_a_process_without_a_key_creates_it_at_the_first_start(open_table, key_file):
    open_table().require_key()
    open_table().require_key()
    with pytest.raises(ConfigError, match="of that file"):
        open_table(new_key()).require_key()
    open_table(key_file.read_text().strip()).require_key()


def test_a_key_that_only_the_file_makes_sufficient_is_not_registered(open_table, key_file, caplog):
    table = open_table()
    table.write({"openai_api_key": table.encrypt(SECRET)})
    new, old = new_key(), key_file.read_text().strip()
    both = open_table(f"{new},{old}")
    both.require_key()
    assert "encrypted with an earlier key" in caplog.text
    with pytest.raises(ConfigError, match="not that of the library"):
        open_table(new).require_key()
    with pytest.raises(ConfigError, match="not lost"):
        both.replace_lost_key()
    both.rotate()
    open_table(new).require_key()
    with pytest.raises(ConfigError, match="not that of the library"):
        open_table(old).require_key()


def test_a_process_that_decrypts_only_some_secrets_is_refused(open_table):
    table, other = open_table(new_key()), open_table(new_key())
    table.write({"openai_api_key": table.encrypt(SECRET)})
    table.write({"chat_model": other.encrypt(SECRET)})
    for one in (table, other):
        with pytest.raises(ConfigError, match="not that of the library"):
            one.require_key()
    other.replace_lost_key()
    other.require_key()


def test_people_do_not_learn_where_a_library_with_another_key_is(open_table):
    open_table(new_key()).require_key()
    with pytest.raises(ConfigError) as raised:
        open_table(new_key()).require_key()
    assert "ask the administrator" in message_for_everyone(raised.value)


def test_an_entry_with_the_name_of_the_key_is_ignored(open_table):
    for entry in ("text", {"encrypted": "text"}):
        assert not open_table().take_over({"encryption_key": entry})
        open_table().replace({"encryption_key": entry})
        open_table().require_key()
    open_table().write({"encryption_key": "text"})
    open_table().require_key()


def test_only_known_entries_are_taken_over(open_table):
    assert open_table().take_over({"language": "ko", "later": 1})
    assert open_table().all_entries() == {"language": "ko"}


def test_a_key_that_decrypts_nothing_is_not_that_of_the_library(open_table):
    key = new_key()
    table = open_table(key)
    table.write({"openai_api_key": table.encrypt(SECRET)})
    for other in ("", new_key()):
        with pytest.raises(ConfigError, match="not that of the library"):
            open_table(other).require_key()
    open_table(key).require_key()


def test_a_key_that_a_process_has_is_not_lost(open_table):
    table = open_table(new_key())
    for _ in range(2):
        with pytest.raises(ConfigError, match="--rotate"):
            table.replace_lost_key()
        table.require_key()


def test_a_lost_key_can_be_replaced(open_table):
    open_table(new_key()).require_key()
    new = new_key()
    open_table(new).replace_lost_key()
    open_table(new).require_key()


@pytest.mark.parametrize("ledger_kind", ["postgresql"], indirect=True)
class TestSeveralProcesses:
    pytestmark = pytest.mark.postgresql

    def test_only_one_changes_the_settings_at_a_time(self, open_table, monkeypatch):
        monkeypatch.setattr(settings_table, "_LOCK_TIMEOUT_S", 0.1)
        table, other = open_table(), open_table()
        with table.locked(), table.locked():
            with pytest.raises(BusyError, match="changing the settings"):
                other.write({"language": "ko"})
            table.write({"language": "ja"})
        other.write({"chat_model": "qwen3"})
        assert other.read().values == {"language": "ja", "chat_model": "qwen3"}

    def test_a_start_after_the_first_change_does_not_wait_for_another_one(self, open_table):
        table = open_table()
        table.write({"language": "ko"})
        with table.locked():
            assert not open_table().take_over({"language": "ja"})

    def test_a_lost_lock_prevents_the_change(self, open_table, tmp_path):
        table = open_table()
        with table.locked():
            table._lock._connection.invalidate()
            with pytest.raises(StorageUnavailableError):
                table.write({"language": "ko"})
        lock = open_ledger(tmp_path / "data").session_lock(SETTINGS)
        with lock.hold(0, just_wait, "the lost lock is still held"):
            pass
        assert open_table().read().values == {}

    def test_concurrent_changes_are_all_kept(self, open_table):
        tables = [open_table() for _ in range(3)]
        changes = [{name: str(number)} for number, name in enumerate(KNOWN)]
        threads = [
            threading.Thread(target=one.write, args=[change])
            for one, change in zip(tables, changes, strict=True)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert open_table().all_entries() == {name: str(n) for n, name in enumerate(KNOWN)}
