"""`cli.py encryption-key`, run as a person does."""

from storage.database import open_database
from storage.encryption_keys import KEY_FILE, EncryptionKeys
from storage.secrets import Secrets
from storage.sources import Sources


def test_a_key_is_made_and_another_takes_its_place(line):
    old, new = (line.run("encryption-key").stdout.strip() for _ in range(2))
    assert old != new
    secrets, source = wiki(line.data_dir, old)
    secrets.keep(source.id, "api_token", "plain")
    done = line.run("encryption-key", "--rotate", FOOTNOTE_ENCRYPTION_KEY=f"{new},{old}")
    assert "first key: 1" in done.stdout
    secrets, _ = wiki(line.data_dir, new)
    assert secrets.get(source.id, "api_token") == "plain"


def wiki(data_dir, setting=""):
    """The secrets, and a source that may have one."""
    database = open_database(data_dir)
    source = Sources(database).ensure("confluence", "https://wiki", name="Wiki")
    return Secrets(database, EncryptionKeys(data_dir, setting)), source


def test_secrets_move_from_the_key_of_the_file_to_that_of_the_setting(line):
    secrets, source = wiki(line.data_dir)
    secrets.keep(source.id, "api_token", "plain")
    new = line.run("encryption-key").stdout.strip()
    line.run("encryption-key", "--rotate", FOOTNOTE_ENCRYPTION_KEY=new)
    (line.data_dir / KEY_FILE).unlink()
    secrets, _ = wiki(line.data_dir, new)
    assert secrets.get(source.id, "api_token") == "plain"


def test_without_a_secret_there_is_nothing_to_rotate(line):
    assert "first key: 0" in line.run("encryption-key", "--rotate").stdout


def test_a_lost_key_is_told_with_its_file(line):
    secrets, source = wiki(line.data_dir)
    secrets.keep(source.id, "api_token", "plain")
    (line.data_dir / KEY_FILE).unlink()
    told = line.run("encryption-key", "--rotate", code=1).stderr
    assert str(line.data_dir / KEY_FILE) in told
    assert "FOOTNOTE_ENCRYPTION_KEY" in told
