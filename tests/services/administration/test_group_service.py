import pytest

from domain import ApiScope, Principal, Role
from domain.errors import ForbiddenError
from services.administration.group_service import Group, GroupService
from services.api_key_service import ApiKeyService
from storage.ledger.api_key_store import ApiKeys
from tests.services.administration.conftest import ROOT


@pytest.fixture
def groups(team):
    return GroupService(team.accounts, ApiKeys(team.library.database), team.library.access)


def test_groups_come_from_accounts_keys_and_readers(team, groups):
    owner = Principal("bot", frozenset({"robots"}))
    ApiKeyService(groups.keys, team.library.audit).create(ROOT, owner, "Bot", [ApiScope.READ])
    team.permissions.set_readers(ROOT, team.source, ["group:staff", "user:ada"])
    team.permissions.set_collection_readers(ROOT, "HR", ["group:staff", "group:board"])
    team.restrict(0, {"group:legal"})
    assert groups.list(ROOT) == [
        Group("board", 0, (), ("HR",)),
        Group("hr", 1, (), ()),
        Group("legal", 0, (), ()),
        Group("robots", 0, (), ()),
        Group("staff", 2, ("docs",), ("HR",)),
    ]
    assert groups.names(ROOT) == [one.name for one in groups.list(ROOT)]


def test_sources_with_the_same_name_are_listed_separately(team, groups):
    other = team.library.sources.ensure("directory", "/other", name="docs")
    for source in (team.source, other.id):
        team.permissions.set_readers(ROOT, source, ["group:hr"])
    assert next(one for one in groups.list(ROOT) if one.name == "hr").sources == ("docs", "docs")


def test_details_have_the_members_and_the_documents_that_name_the_group(team, groups):
    team.restrict(0, {"group:staff"}, {"group:staff", "group:hr"})
    team.restrict(1, {"group:staff"})
    team.restrict(2, {"group:staffing"})
    members, documents = groups.details(ROOT, "staff")
    assert [one.name for one in members] == ["Ada Lovelace", "Ben Ohm"]
    assert documents == [("docs", 2)]
    assert groups.details(ROOT, "none") == ([], [])


def test_only_administrators_see_groups(groups):
    editor = Principal("eve", role=Role.EDITOR)
    for call, *arguments in [(groups.list,), (groups.names,), (groups.details, "hr")]:
        with pytest.raises(ForbiddenError, match="needs the role admin"):
            call(editor, *arguments)
