"""`cli.py api-key` in a subprocess."""

import json
from datetime import datetime, timedelta

from domain import ApiScope
from services.api_key_service import ApiKeyService
from storage.ledger.api_key_store import ApiKeys
from storage.ledger.database import open_database
from tests.fakes.audit import audit_of


def test_a_key_is_created_listed_and_revoked(line):
    created = line.run("api-key", "create", "Wiki bot", "--scope", "read", "--scope", "ask")
    secret = created.stdout.strip()
    assert created.stdout == f"{secret}\n"
    assert secret.startswith("fn-")
    assert secret not in created.stderr

    database = open_database(line.data_dir)
    keys = ApiKeyService(ApiKeys(database), audit_of(database))
    key = keys.find(secret)
    assert (key.name, key.user_id) == ("Wiki bot", "local")
    assert key.scopes == {ApiScope.READ, ApiScope.ASK}
    assert key.id in created.stderr

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


def test_a_key_can_act_for_other_users(line):
    line.run("api-key", "create", "Bot", "--scope", "read", "--user", "ada")
    assert json.loads(line.run("api-key", "list", "--json").stdout)[0]["user_id"] == "ada"


def test_a_key_can_expire_and_carry_groups(line):
    options = ["--scope", "read", "--user", "ada", "--group", "hr", "--group", "it"]
    created = line.run("api-key", "create", "Bot", *options, "--expires-days", "30")
    assert "the scopes read for ada in hr, it, until " in created.stderr
    [listed] = json.loads(line.run("api-key", "list", "--json").stdout)
    assert listed["groups"] == ["hr", "it"]
    created_at, expires_at = (
        datetime.fromisoformat(listed[name]) for name in ("created_at", "expires_at")
    )
    assert expires_at - created_at == timedelta(days=30)
    header, row = line.run("api-key", "list").stdout.splitlines()
    assert "GROUPS" in header
    assert "hr, it" in row
    assert f"{expires_at.astimezone():%Y-%m-%d}" in row


def test_invalid_key_options_are_explained(line):
    assert "read, ask, manage" in line.run("api-key", "create", "Bot", code=1).stderr
    wrong = line.run("api-key", "create", "two\nlines", "--scope", "read", code=1)
    assert "on one line" in wrong.stderr
    line.run("api-key", "create", "Bot", "--scope", "everything", code=2)
    line.run("api-key", "create", "Bot", "--scope", "read", "--expires-days", "0", code=2)
    blank = line.run("api-key", "create", "Bot", "--scope", "read", "--group", " ", code=1)
    assert "is not a reader" in blank.stderr
    assert "no API key 'x'" in line.run("api-key", "revoke", "x", code=1).stderr
    assert line.run("api-key", "list").stdout == (
        "There are no keys. Create one with: python cli.py api-key create NAME --scope read"
        " --scope ask\n"
    )
