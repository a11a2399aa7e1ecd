"""Readers as people know them: names of accounts instead of ids."""

from collections.abc import Iterable, Mapping, Sequence

from bootstrap import Services
from domain import Account
from domain.people import user_reader
from ui.shared.frame import principal
from ui.text import words

Accounts = Mapping[str, Account]
_USER = user_reader("")
_SHOWN = 10


def person_name(account: Account) -> str:
    """The name of the person, with the e-mail address."""
    name = account.name or account.id
    return f"{name} ({account.email})" if account.email else name


def accounts_among(services: Services, readers: Iterable[str]) -> Accounts:
    """The accounts of those readers that are users, by id, with one query."""
    ids = [one.removeprefix(_USER) for one in readers if one.startswith(_USER)]
    return services.accounts.with_ids(principal(), ids) if ids else {}


def reader_name(reader: str, accounts: Accounts) -> str:
    """The reader in words."""
    kind, _colon, name = reader.partition(":")
    match kind:
        case "group":
            return str(words.READER_GROUP.format(name=name))
        case "domain":
            return str(words.READER_DOMAIN.format(name=name))
        case "user":
            known = accounts.get(name)
            return person_name(known) if known else str(words.READER_USER.format(name=name))
    return name


def reader_names(readers: Iterable[str], accounts: Accounts) -> str:
    """The first readers in words, and how many there are beyond them."""
    return first_names([reader_name(one, accounts) for one in readers])


def first_names(names: Sequence[str], most: int = _SHOWN) -> str:
    """The first names, and how many there are beyond them."""
    shown = ", ".join(names[:most])
    rest = len(names) - most
    return words.count(words.AND_MORE, rest, names=shown) if rest > 0 else shown


def readers_in_words(readers: Sequence[str] | None, accounts: Accounts) -> str:
    """All readers of a list in words: everyone without a list, nobody if it is empty."""
    if readers is None:
        return str(words.EVERYONE)
    return reader_names(readers, accounts) if readers else str(words.NOBODY)
