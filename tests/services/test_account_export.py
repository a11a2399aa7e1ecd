import io
import json
from zipfile import ZipFile

import pytest

from domain import LOCAL_USER, Action, ApiScope, Principal, Role
from domain.errors import NotFoundError
from storage.ledger.account_store import Accounts
from tests.fakes.audit import actions_of
from tests.services.administration.conftest import account

pytestmark = pytest.mark.usefixtures("ledger_kind")

ADA = Principal("ada")


@pytest.fixture
def services(build_services):
    services = build_services()
    Accounts(services._database).put(account("Ada Lovelace", "hr"))
    return services


def export(services, principal, account_id="ada"):
    """The contents of the archive by name; those of JSON files are parsed."""
    file = io.BytesIO()
    services.account_export.write(principal, account_id, file)
    with ZipFile(file) as archive:
        return {name: json.loads(archive.read(name)) for name in archive.namelist()}


def test_an_export_has_what_belongs_to_the_person_and_nothing_else(services):
    own = services.chat.ask(ADA, "Where is the office?")
    other = services.chat.ask(LOCAL_USER, "Where is the garden?")
    services.ratings.rate(ADA, own.id, 0, comment="Wrong building")
    link = services.sharing.share(ADA, own.conversation_id)
    created = services.api_keys.create(LOCAL_USER, ADA, "Wiki bot", [ApiScope.READ])
    files = export(services, ADA)
    assert files["account.json"]["name"] == "Ada Lovelace"
    assert files["account.json"]["groups"] == ["hr"]
    assert files["ratings.json"][0]["rating"]["comment"] == "Wrong building"
    assert [key["name"] for key in files["api_keys.json"]] == ["Wiki bot"]
    conversation = files[f"conversations/{own.conversation_id}.json"]
    assert conversation["turns"][0]["question"] == "Where is the office?"
    assert f"conversations/{other.conversation_id}.json" not in files
    [exported_link] = files["links.json"]
    assert exported_link["conversation_id"] == own.conversation_id
    assert created.secret not in str(files)
    assert link.token not in str(files)
    assert "digest" not in str(files)


def test_an_exported_conversation_can_be_imported(services):
    turn = services.chat.ask(ADA, "Where is the office?")
    data = json.dumps(export(services, ADA)[f"conversations/{turn.conversation_id}.json"])
    imported = services.conversations.import_json(Principal("ben"), data.encode())
    assert services.turns.list(Principal("ben"), imported.id)[0].question == turn.question


def test_an_export_has_the_events_about_the_person_and_is_one_itself(services):
    services.accounts.set_role(LOCAL_USER, "ada", Role.EDITOR)
    services.audit.record(LOCAL_USER, Action.SETTINGS_CHANGED, "")
    events = export(services, LOCAL_USER)["audit_events.json"]
    assert [event["action"] for event in events] == ["account.role_changed"]
    assert actions_of(services)[-1] == "account.exported"


def test_many_conversations_are_all_exported(services):
    for number in range(103):
        services.conversations.begin(ADA, f"Title {number}")
    files = export(services, ADA)
    assert len([name for name in files if name.startswith("conversations/")]) == 103


@pytest.mark.parametrize("account_id", ["ada", "nobody"])
def test_another_account_looks_like_one_that_does_not_exist(services, account_id):
    ben = Principal("ben", role=Role.EDITOR)
    with pytest.raises(NotFoundError, match="There is no account"):
        export(services, ben, account_id)
