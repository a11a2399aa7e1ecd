"""`cli.py account` in a subprocess."""

import json
from datetime import UTC, datetime

from domain import Account, Role
from storage.ledger.account_store import Accounts
from storage.ledger.database import open_database

AT = datetime(2026, 11, 1, tzinfo=UTC)


def add(line, account_id, name, role):
    times = {"created_at": AT, "signed_in_at": AT, "seen_at": AT}
    groups = frozenset({"staff", "hr"})
    address = f"{account_id}@example.com"
    issuer = "https://login.example.com"
    account = Account(account_id, issuer, account_id, name, address, role, groups, **times)
    Accounts(open_database(line.data_dir)).put(account)


def test_accounts_are_listed_and_get_other_roles(line):
    add(line, "a1", "Ada", Role.ADMIN)
    add(line, "b2", "Ben", Role.READER)
    assert (
        "Account b2 has the role editor." in line.run("account", "set-role", "b2", "editor").stdout
    )
    ada, ben = json.loads(line.run("account", "list", "--json").stdout)
    assert (ada["id"], ada["role"], ada["groups"]) == ("a1", "admin", ["hr", "staff"])
    assert (ben["id"], ben["role"], ben["email"]) == ("b2", "editor", "b2@example.com")
    header, *rows = line.run("account", "list").stdout.splitlines()
    assert header.startswith("ID")
    assert [row.split()[:2] for row in rows] == [["a1", "Ada"], ["b2", "Ben"]]


def test_an_account_is_disabled_and_enabled(line):
    add(line, "a1", "Ada", Role.ADMIN)
    add(line, "b2", "Ben", Role.READER)
    line.run("account", "disable", "b2")
    assert line.run("account", "list").stdout.splitlines()[-1].endswith("yes")
    line.run("account", "enable", "b2")
    assert line.run("account", "list").stdout.splitlines()[-1].endswith("no")


def test_the_last_administrator_and_unknown_accounts_are_refused(line):
    add(line, "a1", "Ada", Role.ADMIN)
    for words in (("set-role", "a1", "reader"), ("disable", "a1"), ("disable", "nobody")):
        refused = line.run("account", *words, code=1)
        assert "Traceback" not in refused.stderr
        assert refused.stdout == ""
    [ada] = json.loads(line.run("account", "list", "--json").stdout)
    assert (ada["role"], ada["disabled_at"]) == ("admin", None)
