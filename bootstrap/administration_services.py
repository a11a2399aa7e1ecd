"""The services for who people and programs are, and what they may read."""

from functools import cached_property
from typing import TYPE_CHECKING

from bootstrap.import_services import ImportServices
from bootstrap.sign_in import sign_in_options
from storage.ledger.account_erasure import AccountErasure
from storage.ledger.account_store import Accounts
from storage.ledger.api_key_store import ApiKeys
from storage.ledger.document_list_store import DocumentList

if TYPE_CHECKING:
    from services.account_deletion import AccountDeletion
    from services.administration.explanation_service import ExplanationService
    from services.administration.group_service import GroupService
    from services.administration.reader_reports import ReaderReports
    from services.api_key_service import ApiKeyService
    from services.caller_service import CallerService
    from services.sign_in.account_service import AccountService
    from services.sign_in.sign_in_service import SignInService
    from services.sign_in.token_service import TokenService
    from services.sources.permission_service import PermissionService


class AdministrationServices(ImportServices):
    """The services for imports, and those for accounts and for readers of documents."""

    @cached_property
    def _accounts(self) -> Accounts:
        return Accounts(self._database)

    @cached_property
    def _api_keys(self) -> ApiKeys:
        return ApiKeys(self._database)

    @cached_property
    def permissions(self) -> "PermissionService":
        """Shows and changes the readers of sources and collections."""
        from services.sources.permission_service import PermissionService

        return PermissionService(self.access, self.audit)

    @cached_property
    def groups(self) -> "GroupService":
        """Lists groups, their members, and what names them."""
        from services.administration.group_service import GroupService

        return GroupService(self._accounts, self._api_keys, self.access)

    @cached_property
    def reader_reports(self) -> "ReaderReports":
        """Shows who may read each source."""
        from services.administration.reader_reports import ReaderReports

        documents = DocumentList(self._database)
        return ReaderReports(self.access, self.permissions, self._accounts, documents)

    @cached_property
    def explanations(self) -> "ExplanationService":
        """Explains why a person may read a document."""
        from services.administration.explanation_service import ExplanationService

        return ExplanationService(self._accounts, self.permissions)

    @cached_property
    def accounts(self) -> "AccountService":
        """Lists and changes the accounts of people who sign in."""
        from services.sign_in.account_service import AccountService

        return AccountService(self._accounts, self.audit)

    @cached_property
    def account_deletion(self) -> "AccountDeletion":
        """Deletes accounts with everything that belongs to them."""
        from services.account_deletion import AccountDeletion

        return AccountDeletion(AccountErasure(self._database), self.housekeeping)

    @cached_property
    def sign_in(self) -> "SignInService | None":
        """Decides who uses the pages; None without sign-in."""
        settings = self.parts.settings
        if not settings.has_sign_in:
            return None
        from services.sign_in.sign_in_service import SignInService

        return SignInService(self._accounts, self.audit, sign_in_options(settings))

    @cached_property
    def api_keys(self) -> "ApiKeyService":
        """Creates, lists, and revokes the API keys of all users."""
        from services.api_key_service import ApiKeyService

        return ApiKeyService(self._api_keys, self.audit)

    @cached_property
    def callers(self) -> "CallerService":
        """Decides who makes a call to the API."""
        from services.caller_service import CallerService

        return CallerService(self.api_keys, self._accounts, self._tokens)

    @property
    def _tokens(self) -> "TokenService | None":
        """Checks bearer tokens for the API; None if the API accepts none."""
        settings = self.parts.settings
        if not settings.oidc_api_audience:  # which requires the other settings of the sign-in
            return None
        from services.sign_in.provider_keys import ProviderKeys
        from services.sign_in.token_service import TokenService

        keys = ProviderKeys(settings.oidc_issuer)
        audience, options = settings.oidc_api_audience, sign_in_options(settings)
        return TokenService(keys, audience, self._accounts, self.audit, options)
