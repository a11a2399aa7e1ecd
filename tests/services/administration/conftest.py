from datetime import UTC, datetime

import pytest

from domain import Account, Principal, Role
from services.sources.permission_service import PermissionService
from storage.ledger.account_store import Accounts
from storage.ledger.document_store import document_id
from tests.fakes.library import DictLoader, Library

ROOT = Principal("root", role=Role.ADMIN)
NOW = datetime(2026, 11, 26, 9, 0, tzinfo=UTC)


def account(name, *groups, **values):
    """An account whose id and e-mail address are made of the name."""
    first = name.split()[0].lower()
    defaults = {"role": Role.READER, "email": f"{first}@example.com"}
    times = {"created_at": NOW, "signed_in_at": NOW, "seen_at": NOW}
    return Account(
        id=first,
        issuer="https://login.example.com",
        subject=first,
        name=name,
        groups=frozenset(groups),
        **defaults | times | values,
    )


class Team:
    """A library with the source `docs` in the collection HR, and people who have signed in."""

    def __init__(self, folder):
        self.library = Library(folder)
        options = {"collection": "HR", "mirror_permissions": True}
        docs = self.library.sources.ensure("directory", "/docs", name="docs", options=options)
        texts = {f"{name}.md": f"Text of {name}." for name in "abcd"}
        self.library.load(DictLoader(texts), source=docs)
        self.source = docs.id
        self.pages = [document_id(docs.id, key) for key in texts]
        self.permissions = PermissionService(self.library.access, self.library.audit)
        self.accounts = Accounts(self.library.database)
        self.accounts.put(account("Ada Lovelace", "hr", "staff"))
        self.accounts.put(account("Ben Ohm", "staff"))
        self.accounts.put(account("Clara Wieck"))

    def restrict(self, page, *lists):
        restrictions = list(map(frozenset, lists))
        self.library.access.restrictions.restrict_documents({self.pages[page]: restrictions})

    def add_file_of(self, user_id):
        options = {"user_id": user_id, "conversation_id": "c1"}
        box = self.library.sources.ensure("upload", "uploads/c1", name="Trip", options=options)
        self.library.load(DictLoader({"map.md": "Map."}), source=box)
        return document_id(box.id, "map.md")


@pytest.fixture
def team(tmp_path):
    return Team(tmp_path)
