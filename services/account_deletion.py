"""Deletes an account with everything that belongs to it."""

from dataclasses import dataclass
from datetime import UTC, datetime

from domain import Principal, Role
from services.access import require_role
from services.housekeeping import Housekeeping
from storage.ledger.account_erasure import AccountErasure


@dataclass(frozen=True)
class AccountDeletion:
    """Deletes accounts, for administrators."""

    erasure: AccountErasure
    housekeeping: Housekeeping

    def delete(self, principal: Principal, account_id: str) -> None:
        """Delete the account permanently, with everything that belongs to it.

        These are its conversations with their files, ratings, labels, preferences, and API keys.
        Its sessions end. The ledger changes at once, and a worker removes the files; if this
        process ends before it has queued that, the next housekeeping does. A person who signs in
        again gets a new account.

        Raises:
            ForbiddenError: The principal is not an administrator.
            NotFoundError: There is no such account.
            ConflictError: It is the last administrator.
        """
        require_role(principal, Role.ADMIN)
        now = datetime.now(UTC)
        self.erasure.erase(principal, account_id, now)
        self.housekeeping.run(now)
