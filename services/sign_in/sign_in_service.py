"""Decides who uses the pages from the claims of their sign-in, at each call."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from domain import Account, Action, Principal, Role
from domain.errors import SignInError, StorageError
from domain.logs import get_logger
from domain.messages import _
from services.audit_service import AuditService
from services.secret_tokens import new_token, token_digest
from services.sign_in import claims as claim_checks
from services.sign_in.claims import Claims, SignInOptions
from services.sign_in.provider import check_provider
from storage.ledger.account_store import COOKIE_LIFETIME, Accounts

ADMINISTRATOR = "administrator"
"""The parameter of the address that makes the signed-in person an administrator."""

_LINK_LIFETIME = timedelta(hours=24)

_log = get_logger("sign_in")


@dataclass(frozen=True)
class SignInService:
    """The people who are signed in on the pages."""

    accounts: Accounts
    audit: AuditService
    options: SignInOptions

    def principal_of(self, claims: Claims, now: datetime) -> Principal:
        """The principal of the person with these claims; see `account_of`.

        It has the e-mail address if the provider has verified it, and it is still the account's.
        """
        account, email = self.account_of(claims, now), claim_checks.verified_email(claims)
        return replace(account.principal, email=email if email == account.email else "")

    def account_of(self, claims: Claims, now: datetime) -> Account:
        """The account of the person with these claims, created at the first sign-in.

        A later sign-in updates its name, e-mail address, and groups.

        Raises:
            SignInError: The claims are not valid (see `check_claims`), the session was ended, or
                the account is disabled.
        """
        claim_checks.check_claims(claims, self.options, now)
        signed_in_at = claim_checks.issue_time(claims)
        account, has_ended = self.accounts.session(
            claim_checks.account_id(claims), claim_checks.session_digest(claims), signed_in_at
        )
        if has_ended:
            raise SignInError(_("You have signed out: sign in again."))
        if account is None or account.signed_in_at < signed_in_at:
            account = self.accounts.put(claim_checks.account_of(claims, self.options, now))
            if account.disabled_at is None:
                self.audit.record(account.principal, Action.SIGN_IN_OK, account.id)
        if account.disabled_at is not None:
            self.audit.record_refusal(account.principal, account.id, "disabled")
            raise SignInError(claim_checks.DISABLED)
        self._note_use(account, now)
        return account

    def _note_use(self, account: Account, now: datetime) -> None:
        try:
            self.accounts.note_use(account, now)
        except StorageError as error:  # whoever can't write may still read; the next page tries
            _log.warning("use of the account not recorded", reason=str(error))

    def end_session(self, claims: Claims, now: datetime) -> None:
        """End the session; its cookie is refused from now on, wherever it is."""
        digest = claim_checks.session_digest(claims)
        self.accounts.end_session(digest, now + COOKIE_LIFETIME, now)

    def check_provider(self) -> None:
        """Check that people can sign in at the provider now.

        Raises:
            SignInError: The provider can't be reached.
        """
        check_provider(self.options.issuer)

    def make_administrator_link(self, now: datetime) -> str:
        """A link that makes the person who opens it an administrator, once, within 24 hours.

        It replaces the previous link. "" if there is an administrator, and then no link is valid.
        """
        if self.accounts.has_administrator():
            self.accounts.remove_link()
            return ""
        token = new_token()
        self.accounts.replace_link(token_digest(token), now + _LINK_LIFETIME)
        return f"{self.options.public_url}/?{ADMINISTRATOR}={token}"

    def use_administrator_link(self, principal: Principal, token: str, now: datetime) -> None:
        """Make the signed-in person an administrator.

        Raises:
            SignInError: The link was used before, replaced, or is too old.
        """
        if not self.accounts.use_link(token_digest(token), principal.user_id, now):
            raise SignInError(
                _(
                    "This link for an administrator is not valid, or not anymore: restart Footnote"
                    " to get a new one."
                )
            )
        self.audit.record(
            principal, Action.ACCOUNT_ROLE_CHANGED, principal.user_id, role=Role.ADMIN.value
        )
        _log.warning("administrator link used", account=principal.user_id)
