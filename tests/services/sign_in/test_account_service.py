import pytest

from domain import Principal, Role
from domain.errors import ConflictError, ForbiddenError, NotFoundError
from services.sign_in.account_service import AccountService
from storage.ledger.account_store import Accounts
from tests.fakes.audit import audit_of
from tests.postgresql.ledgers import open_ledger
from tests.services.administration.conftest import ROOT, account

pytestmark = pytest.mark.usefixtures("ledger_kind")

PEOPLE = ["Ada Lovelace", "Ben Ohm", "김지우", "100% Percy"]


@pytest.fixture
def accounts(tmp_path):
    database = open_ledger(tmp_path)
    store = Accounts(database)
    for name in PEOPLE:
        store.put(account(name))
    return AccountService(store, audit_of(database))


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("", ["100% Percy", "Ada Lovelace", "Ben Ohm", "김지우"]),
        ("love ADA", ["Ada Lovelace"]),
        ("ben@example", ["Ben Ohm"]),
        ("지우", ["김지우"]),
        ("%", ["100% Percy"]),
        ("ada ohm", []),
    ],
)
def test_accounts_are_found_by_words_of_name_and_address(accounts, words, found):
    page, total = accounts.page(ROOT, words)
    assert ([one.name for one in page], total) == (found, len(found))


def test_names_are_found_in_any_case_of_any_letter(accounts):
    accounts.accounts.put(account("Émile Borel"))
    for words in ("émile", "ÉMILE", "Émile b"):
        assert [one.name for one in accounts.page(ROOT, words).accounts] == ["Émile Borel"]


def test_accounts_are_listed_page_by_page(accounts):
    pages = [accounts.page(ROOT, limit=3, offset=offset) for offset in (0, 3, 6)]
    assert [len(one.accounts) for one in pages] == [3, 1, 0]
    assert {one.total for one in pages} == {4}


def test_accounts_are_found_by_their_ids(accounts):
    assert {
        id_: one.name for id_, one in accounts.with_ids(ROOT, ["ben", "ada", "none"]).items()
    } == {
        "ada": "Ada Lovelace",
        "ben": "Ben Ohm",
    }


def test_the_last_administrator_stays(accounts):
    accounts.set_role(ROOT, "ada", Role.ADMIN)
    with pytest.raises(ConflictError, match="last administrator"):
        accounts.set_role(ROOT, "ada", Role.EDITOR)
    with pytest.raises(ConflictError, match="last administrator"):
        accounts.disable(ROOT, "ada")
    accounts.set_role(ROOT, "ben", Role.ADMIN)
    accounts.disable(ROOT, "ada")
    accounts.enable(ROOT, "ada")


def test_an_unknown_account_is_not_found(accounts):
    with pytest.raises(NotFoundError):
        accounts.disable(ROOT, "none")


def test_only_administrators_see_and_change_accounts(accounts):
    editor = Principal("eve", role=Role.EDITOR)
    for call, *arguments in [
        (accounts.list,),
        (accounts.page,),
        (accounts.with_ids, ["ada"]),
        (accounts.set_role, "ada", Role.ADMIN),
        (accounts.disable, "ada"),
        (accounts.enable, "ada"),
    ]:
        with pytest.raises(ForbiddenError, match="needs the role admin"):
            call(editor, *arguments)
