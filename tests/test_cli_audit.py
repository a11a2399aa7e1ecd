"""`cli.py audit` and the deletion of accounts in a subprocess."""

import json
from zipfile import ZipFile

from domain import Role
from tests.test_cli_account import add


def test_the_log_is_listed_and_filtered(line):
    add(line, "a1", "Ada", Role.ADMIN)
    line.run("account", "set-role", "a1", "admin")
    line.run("api-key", "create", "Wiki bot", "--scope", "read")
    head, newest, oldest = line.run("audit", "list").stdout.splitlines()
    assert head.split() == ["ID", "TIME", "ACTOR", "ACTION", "OBJECT", "DETAIL"]
    assert "api_key.created" in newest
    assert "account.role_changed" in oldest
    assert "role=admin" in oldest
    only = ("--action", "api_key.created", "--actor", "local", "--since", "1", "--json")
    [event] = json.loads(line.run("audit", "list", *only).stdout)
    assert (event["action"], event["detail"]["scopes"]) == ("api_key.created", ["read"])
    assert json.loads(line.run("audit", "list", "--actor", "ada", "--json").stdout) == []


def test_days_and_ids_out_of_range_are_refused(line):
    for option in (("--since", "900000"), ("--since", "0"), ("--before", str(2**63))):
        assert option[0] in line.run("audit", "list", *option, code=2).stderr


def test_an_account_is_deleted_only_with_a_confirmation(line):
    add(line, "a1", "Ada", Role.ADMIN)
    add(line, "b2", "Ben", Role.READER)
    line.run("account", "delete", "b2", code=1)
    assert "b2" in line.run("account", "list").stdout
    assert "Account b2 is deleted" in line.run("account", "delete", "b2", "--yes").stdout
    assert "b2" not in line.run("account", "list").stdout
    refused = line.run("account", "delete", "a1", "--yes", code=1)
    assert "last administrator" in refused.stderr


def test_an_export_never_overwrites_a_file_unless_it_is_forced(line, tmp_path):
    add(line, "a1", "Ada", Role.ADMIN)
    file = tmp_path / "ada.zip"
    line.run("account", "export", "a1", str(file))
    with ZipFile(file) as archive:
        assert json.loads(archive.read("account.json"))["name"] == "Ada"
    file.write_bytes(b"mine")
    assert "--force" in line.run("account", "export", "a1", str(file), code=1).stderr
    assert file.read_bytes() == b"mine"
    line.run("account", "export", "nobody", str(file), "--force", code=1)
    assert file.read_bytes() == b"mine"
    line.run("account", "export", "a1", str(file), "--force")
    assert ZipFile(file).testzip() is None
    assert [one.name for one in tmp_path.glob("*.part")] == []
    missing = line.run("account", "export", "a1", str(tmp_path / "no" / "a.zip"), code=1)
    assert "can't be written" in missing.stderr
