"""`cli.py encryption-key`, run as a person does."""

from storage.database import open_database
from storage.secrets import Secrets
from storage.sources import Sources


def test_a_key_is_made_and_another_takes_its_place(line):
    old, new = (line.run("encryption-key").stdout.strip() for _ in range(2))
    assert old != new
    database = open_database(line.data_dir)
    source = Sources(database).ensure("confluence", "https://wiki", name="Wiki")
    Secrets(database, old).keep(source.id, "api_token", "plain")
    done = line.run("encryption-key", "--rotate", FOOTNOTE_ENCRYPTION_KEY=f"{new},{old}")
    assert "first key: 1" in done.stdout
    assert Secrets(database, new).get(source.id, "api_token") == "plain"


def test_without_a_key_there_is_nothing_to_rotate_with(line):
    assert "FOOTNOTE_ENCRYPTION_KEY" in line.run("encryption-key", "--rotate", code=1).stderr
