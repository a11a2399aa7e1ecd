"""`cli.py api-key`, run as a person does."""

import json

from domain import ApiScope
from services.api_keys import ApiKeyService
from storage.api_keys import ApiKeys
from storage.database import open_database


def test_a_key_is_made_listed_and_revoked(line):
    made = line.run("api-key", "create", "Wiki bot", "--scope", "read", "--scope", "ask")
    secret = made.stdout.strip()
    assert made.stdout == f"{secret}\n"
    assert secret.startswith("fn-")
    assert secret not in made.stderr

    keys = ApiKeyService(ApiKeys(open_database(line.data_dir)))
    key = keys.find(secret)
    assert (key.name, key.user_id) == ("Wiki bot", "local")
    assert key.scopes == {ApiScope.READ, ApiScope.ASK}
    assert key.id in made.stderr

    [listed] = json.loads(line.run("api-key", "list", "--json").stdout)
    assert listed["id"] == key.id
    assert listed["scopes"] == ["ask", "read"]
    assert listed["revoked_at"] is None

    line.run("api-key", "revoke", key.id)
    assert keys.find(secret) is None
    table = line.run("api-key", "list").stdout
    assert "Wiki bot" in table
    assert secret not in table
    [listed] = json.loads(line.run("api-key", "list", "--json").stdout)
    assert listed["revoked_at"]
    assert secret not in str(listed)


def test_a_key_may_call_for_another_user(line):
    line.run("api-key", "create", "Bot", "--scope", "read", "--user", "ada")
    assert json.loads(line.run("api-key", "list", "--json").stdout)[0]["user_id"] == "ada"


def test_what_no_key_can_be_made_of_is_explained(line):
    assert "read, ask, manage" in line.run("api-key", "create", "Bot", code=1).stderr
    wrong = line.run("api-key", "create", "two\nlines", "--scope", "read", code=1)
    assert "in one line" in wrong.stderr
    line.run("api-key", "create", "Bot", "--scope", "everything", code=2)
    assert "no API key 'x'" in line.run("api-key", "revoke", "x", code=1).stderr
    assert "No key was made yet" in line.run("api-key", "list").stdout
