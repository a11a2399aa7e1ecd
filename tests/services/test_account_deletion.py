import re
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select

from domain import LOCAL_USER, Action, ApiScope, Principal, Role
from domain.errors import ConflictError, ForbiddenError, NotFoundError, SignInError
from storage.ledger.account_store import Accounts
from storage.ledger.columns import Text
from storage.ledger.feedback_store import Label, LabelOrigin, Labels
from storage.ledger.ledger_tables import Base
from storage.ledger.people_store import People
from tests.services.administration.conftest import NOW, account

pytestmark = pytest.mark.usefixtures("ledger_kind")

ADA = Principal("ada")
WORDS = ("user", "owner", "actor", "reader", "person", "account", "author", "email", "subject")
KEEPS_THE_ID = {
    "audit_events.actor",
    "audit_events.detail",
    "audit_events.object_id",
    "ended_sessions.digest",
    "imports.user_id",
}
"""The columns that may contain the id of a deleted account; none may contain the name."""


@pytest.fixture
def services(build_services):
    services = build_services()
    Accounts(services._database).put(account("Ada Lovelace", "hr", email_verified=True))
    return services


def replace_nothing(person):
    return person


def add_everything(services):
    """Something of Ada's in every place, made as people make it."""
    turn = services.chat.ask(ADA, "Where is the office?")
    services.ratings.rate(ADA, turn.id, 1)
    services.sharing.share(ADA, turn.conversation_id)
    label = Label(turn.question, "p1", "d1", 0, 1, "Ada sits here.", 1, LabelOrigin.API, NOW)
    Labels(services._database).put(ADA, [label])
    People(services._database).change("ada", "Ada", replace_nothing)
    services.uploads.add(ADA, [("own.txt", b"Mine.")], conversation_id=turn.conversation_id)
    services.api_keys.create(LOCAL_USER, ADA, "Ada Lovelace's key", [ApiScope.READ])
    services.audit.record(ADA, Action.SOURCE_EDITED, "one")
    own = services.uploads.box_of(ADA, turn.conversation_id)
    services.queue.enqueue(ADA, own.id)
    box = services.uploads.add(LOCAL_USER, [("shared.txt", b"Ours.")], box="Shared").source_id
    readers = ["user:ada", "email:ada@example.com", "user:ben"]
    services.permissions.set_readers(LOCAL_USER, box, readers)
    return box


def run_queue(services):
    while services.worker.run_next():
        pass


def texts_of(services):
    """By table and column, all values as text."""
    with services._database.read() as session:
        return {
            f"{table.name}.{column.name}": [str(one) for one in session.scalars(select(column))]
            for table in Base.metadata.sorted_tables
            for column in table.columns
        }


def columns_with(services, text):
    """The columns with the text, except within hexadecimal ids, where it may occur by chance."""
    occurrence = re.compile(rf"(?<![0-9a-f]){re.escape(text)}(?![0-9a-f])")
    values = texts_of(services).items()
    return {name for name, texts in values if any(map(occurrence.search, texts))}


def test_nothing_but_the_id_in_the_log_is_left(services):
    add_everything(services)
    services.account_deletion.delete(LOCAL_USER, "ada")
    run_queue(services)
    assert columns_with(services, "Ada") == set()
    assert columns_with(services, "ada@example.com") == set()
    assert columns_with(services, "ada") <= KEEPS_THE_ID
    assert texts_of(services)["conversation_links.token"] == []
    [deletion] = services.audit.list(LOCAL_USER, action=Action.ACCOUNT_DELETED)
    assert deletion.detail["conversations"] == deletion.detail["api_keys"] == 1
    [edit] = services.audit.list(LOCAL_USER, action=Action.SOURCE_EDITED)
    assert (edit.actor, edit.actor_name) == ("ada", "")


def test_every_column_that_may_name_a_person_is_known():
    """A new one must be deleted with the account: see `storage.ledger.account_erasure`."""
    columns = {
        f"{table.name}.{column.name}"
        for table in Base.metadata.sorted_tables
        for column in table.columns
        if isinstance(column.type, Text) and any(word in column.name for word in WORDS)
    }
    assert columns == {
        "accounts.subject",
        "accounts.email",
        "api_keys.user_id",
        "audit_events.actor",
        "audit_events.actor_name",
        "conversations.user_id",
        "import_turns.user_id",
        "imports.user_id",
        "labels.user_id",
        "ratings.user_id",
        "recent_questions.user_id",
        "restriction_readers.reader",
        "uploaded_files.user_id",
        "uploads.user_id",
        "users.owner_id",
    }


def test_files_are_removed_even_if_the_process_ends_after_the_commit(services, build_services):
    add_everything(services)
    folder = services.parts.settings.data_dir / "uploads"
    services.account_deletion.erasure.erase(LOCAL_USER, "ada", datetime.now(UTC))
    assert list(folder.rglob("own.txt"))
    later = build_services(data_dir=services.parts.settings.data_dir)
    run_queue(later)
    assert not list(folder.rglob("own.txt"))
    assert list(folder.rglob("shared.txt"))


def test_the_readers_of_a_source_no_longer_name_the_person(services):
    box = add_everything(services)
    services.account_deletion.delete(LOCAL_USER, "ada")
    assert services.permissions.readers(LOCAL_USER, box) == ("user:ben",)


def test_an_address_that_is_not_verified_stays_a_reader(services):
    accounts, later = Accounts(services._database), NOW + timedelta(hours=1)
    accounts.put(account("Ada Lovelace", signed_in_at=later, email_verified=False))
    box = add_everything(services)
    services.account_deletion.delete(LOCAL_USER, "ada")
    assert services.permissions.readers(LOCAL_USER, box) == ("email:ada@example.com", "user:ben")


@pytest.mark.parametrize("address", ["ada@example.com", "Ada@Example.com"])
def test_an_address_that_another_account_has_stays_a_reader(services, address):
    box = add_everything(services)
    Accounts(services._database).put(account("Adam Smith", email=address))
    services.account_deletion.delete(LOCAL_USER, "ada")
    assert services.permissions.readers(LOCAL_USER, box) == ("email:ada@example.com", "user:ben")


def test_the_last_administrator_stays(services):
    services.accounts.set_role(LOCAL_USER, "ada", Role.ADMIN)
    add_everything(services)
    with pytest.raises(ConflictError, match="last administrator"):
        services.account_deletion.delete(LOCAL_USER, "ada")
    assert services.conversations.page(ADA, limit=9).total == 1


def test_only_administrators_delete_and_unknown_accounts_are_not_found(services):
    with pytest.raises(ForbiddenError):
        services.account_deletion.delete(Principal("ada", role=Role.EDITOR), "ada")
    with pytest.raises(NotFoundError):
        services.account_deletion.delete(LOCAL_USER, "eve")


def test_earlier_sessions_do_not_bring_the_account_back(services):
    services.account_deletion.delete(LOCAL_USER, "ada")
    accounts, now = Accounts(services._database), datetime.now(UTC)
    with pytest.raises(SignInError, match="deleted"):
        accounts.put(account("Ada Lovelace", signed_in_at=now - timedelta(minutes=1)))
    again = accounts.put(account("Ada Lovelace", signed_in_at=now + timedelta(minutes=1)))
    assert again.role is Role.READER
