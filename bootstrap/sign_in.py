"""Builds the sign-in of the pages from the settings."""

import json
from datetime import timedelta
from typing import TYPE_CHECKING

from bootstrap.stored_settings import location_of, require_library_key
from settings import Settings
from storage.data_folder import keep_private
from storage.ledger.account_store import Accounts
from storage.ledger.database import open_database
from storage.ledger.secret_store import EncryptionKeys, Secrets

if TYPE_CHECKING:
    from services.audit_service import AuditService
    from services.sign_in.claims import SignInOptions
    from services.sign_in.sign_in_service import SignInService
    from services.sign_in.token_service import TokenService

_COOKIES = "cookies of the pages"


def make_sign_in(
    settings: Settings, accounts: Accounts, audit: "AuditService"
) -> "SignInService | None":
    """The service that decides who uses the pages; None without sign-in."""
    if not settings.has_sign_in:
        return None
    from services.sign_in.sign_in_service import SignInService

    return SignInService(accounts, audit, _options(settings))


def _options(settings: Settings) -> "SignInOptions":
    from services.sign_in.claims import SignInOptions

    return SignInOptions(
        issuer=settings.oidc_issuer,
        client_id=settings.oidc_client_id,
        groups_claim=settings.oidc_groups_claim,
        public_url=settings.public_url,
        session=timedelta(hours=settings.session_hours),
        default_role=settings.default_role,
    )


def streamlit_secrets(settings: Settings) -> str:
    """The text of the secrets file from which Streamlit reads how people sign in; contains secrets.

    All processes with the same encryption key accept each other's cookies.

    Raises:
        ConfigError: The encryption key is invalid, lost, or not that of the library, or can't be
            read or written.
        StorageError: The ledger can't be opened.
    """
    from services.sign_in.provider import metadata_url

    secret = settings.oidc_client_secret
    values = {
        "redirect_uri": f"{settings.public_url}/oauth2callback",
        "cookie_secret": _cookie_secret(settings),
        "client_id": settings.oidc_client_id,
        "client_secret": secret.get_secret_value() if secret else "",
        "server_metadata_url": metadata_url(settings.oidc_issuer),
    }
    # Strings of JSON are also strings of TOML.
    lines = (f"{name} = {json.dumps(text, ensure_ascii=False)}" for name, text in values.items())
    return "\n".join(["[auth]", *lines, ""])


def _cookie_secret(settings: Settings) -> str:
    key = settings.encryption_key
    keys = EncryptionKeys(settings.data_dir, key.get_secret_value() if key else "")
    keep_private(settings.data_dir)
    # A new data folder needs its ledger before its key; otherwise, the ledger would count as lost.
    database = open_database(settings.data_dir, settings.database_url)
    try:
        Secrets(database, keys).require_key()
    finally:
        database.close()
    require_library_key(location_of(settings))
    return keys.derive(_COOKIES)


def make_tokens(
    settings: Settings, accounts: Accounts, audit: "AuditService"
) -> "TokenService | None":
    """The service that checks bearer tokens for the API; None if the API accepts none."""
    if not settings.oidc_api_audience:  # which requires the other settings of the sign-in
        return None
    from services.sign_in.provider_keys import ProviderKeys
    from services.sign_in.token_service import TokenService

    keys = ProviderKeys(settings.oidc_issuer)
    return TokenService(keys, settings.oidc_api_audience, accounts, audit, _options(settings))
