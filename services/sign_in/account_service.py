"""Lists and changes the accounts of the people who have signed in."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from domain import Account, Action, Principal, Role
from services.access import require_role
from services.audit_service import AuditService
from storage.ledger.account_store import Accounts


class AccountPage(NamedTuple):
    """A page of the matching accounts by name, and the number of all of them."""

    accounts: Sequence[Account]
    total: int


@dataclass(frozen=True)
class AccountService:
    """The accounts; a change counts at the person's next click.

    Each call raises ForbiddenError unless the principal is an administrator. Changes raise
    NotFoundError if there is no such account, and ConflictError if no administrator would remain.
    """

    accounts: Accounts
    audit: AuditService

    def list(self, principal: Principal) -> Sequence[Account]:
        """All accounts by name, including disabled ones."""
        require_role(principal, Role.ADMIN)
        return self.accounts.list()

    def page(
        self, principal: Principal, words: str = "", *, limit: int = 50, offset: int = 0
    ) -> AccountPage:
        """The accounts whose name or e-mail address contains all the words, ignoring case."""
        require_role(principal, Role.ADMIN)
        page = self.accounts.page(words, limit=limit, offset=offset)
        return AccountPage(page, self.accounts.count(words))

    def with_ids(self, principal: Principal, account_ids: Iterable[str]) -> dict[str, Account]:
        """The accounts with these ids; unknown ids are omitted."""
        require_role(principal, Role.ADMIN)
        return self.accounts.with_ids(sorted(set(account_ids)))

    def set_role(self, principal: Principal, account_id: str, role: Role) -> None:
        """Give the account another role."""
        require_role(principal, Role.ADMIN)
        self.accounts.set_role(account_id, role)
        self.audit.record(principal, Action.ACCOUNT_ROLE_CHANGED, account_id, role=role.value)

    def disable(self, principal: Principal, account_id: str) -> None:
        """Refuse the person's sessions and sign-ins from now on."""
        require_role(principal, Role.ADMIN)
        self.accounts.disable(account_id, datetime.now(UTC))
        self.audit.record(principal, Action.ACCOUNT_DISABLED, account_id)

    def enable(self, principal: Principal, account_id: str) -> None:
        """Accept the person's sessions and sign-ins again."""
        require_role(principal, Role.ADMIN)
        self.accounts.disable(account_id, None)
        self.audit.record(principal, Action.ACCOUNT_ENABLED, account_id)
