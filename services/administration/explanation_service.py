"""Explains why a person may read a document, rule by rule."""

from dataclasses import dataclass, replace

from domain import Account, Principal, Role
from services.access import require_role
from services.sources.permission_service import PermissionService, Steps
from storage.ledger.account_store import Accounts, account_not_found


@dataclass(frozen=True, slots=True)
class PersonExplanation:
    """Why the person with an account may read a document, or why not.

    The person may if every step of `rules` admits them and the account is not disabled. If
    `needs_verified_email`, they may only after a sign-in in which the provider says that it has
    verified their e-mail address.
    """

    account: Account
    rules: Steps
    needs_verified_email: bool

    @property
    def is_readable(self) -> bool:
        """Whether the person may read the document."""
        return self.account.disabled_at is None and self.rules.is_readable


@dataclass(frozen=True)
class ExplanationService:
    """Explanations for administrators; other principals get a ForbiddenError."""

    accounts: Accounts
    permissions: PermissionService

    def explain(self, principal: Principal, account_id: str, document_id: str) -> PersonExplanation:
        """Why the person may read the document, with the groups of their latest sign-in.

        Raises:
            NotFoundError: There is no such account or document.
        """
        require_role(principal, Role.ADMIN)
        account = self.accounts.find(account_id)
        if account is None:
            raise account_not_found(account_id)
        person = account.principal
        rules = self.permissions.steps(principal, person, document_id)
        with_email = replace(person, email=account.email)
        others = self.permissions.steps(principal, with_email, document_id)
        is_decisive = others.is_readable and not rules.is_readable
        return PersonExplanation(account, others if is_decisive else rules, is_decisive)
