"""`cli.py encryption-key` in a subprocess."""

from storage.ledger.database import open_database
from storage.ledger.ledger_location import KEY_FILE
from storage.ledger.secret_store import EncryptionKeys, Secrets
from storage.ledger.source_store import Sources


def test_a_key_is_created_and_replaced(line):
    old, new = (line.run("encryption-key").stdout.strip() for _ in range(2))
    assert old != new
    secrets, source = wiki(line.data_dir, old)
    secrets.save(source.id, "api_token", "plain")
    result = line.run("encryption-key", "--rotate", FOOTNOTE_ENCRYPTION_KEY=f"{new},{old}")
    assert "first key: 1" in result.stdout
    secrets, _ = wiki(line.data_dir, new)
    assert secrets.get(source.id, "api_token") == "plain"


def wiki(data_dir, setting=""):
    """The secrets, and a source that can have one."""
    database = open_database(data_dir)
    source = Sources(database).ensure("confluence", "https://wiki", name="Wiki")
    return Secrets(database, EncryptionKeys(data_dir, setting)), source


def test_secrets_move_from_the_key_file_to_the_key_in_the_settings(line):
    secrets, source = wiki(line.data_dir)
    secrets.save(source.id, "api_token", "plain")
    new = line.run("encryption-key").stdout.strip()
    line.run("encryption-key", "--rotate", FOOTNOTE_ENCRYPTION_KEY=new)
    (line.data_dir / KEY_FILE).unlink()
    secrets, _ = wiki(line.data_dir, new)
    assert secrets.get(source.id, "api_token") == "plain"


def test_rotation_without_secrets_says_so(line):
    assert "first key: 0" in line.run("encryption-key", "--rotate").stdout


def test_a_damaged_settings_file_is_reported(line):
    (line.data_dir / "settings.json").write_text("{")
    result = line.run("encryption-key", "--rotate", code=1)
    assert "settings.json is damaged" in result.stderr
    assert "no longer needed" not in result.stdout


def test_a_lost_key_is_reported_with_its_file(line):
    secrets, source = wiki(line.data_dir)
    secrets.save(source.id, "api_token", "plain")
    (line.data_dir / KEY_FILE).unlink()
    error = line.run("encryption-key", "--rotate", code=1).stderr
    assert str(line.data_dir / KEY_FILE) in error
    assert "FOOTNOTE_ENCRYPTION_KEY" in error


def test_a_rotation_is_not_combined_with_the_replacement_of_a_lost_key(line):
    result = line.run("encryption-key", "--rotate", "--replace-lost", code=2)
    assert "cannot be combined" in result.stderr
