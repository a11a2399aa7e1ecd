"""Builds the sign-in of the pages from the settings."""

import json
from datetime import timedelta
from typing import TYPE_CHECKING

from bootstrap.stored_settings import location_of, require_library_key
from domain.setting_values import secret_text
from settings import Settings
from storage.data_folder import keep_private
from storage.ledger.database import open_database
from storage.ledger.secret_store import Secrets

if TYPE_CHECKING:
    from services.sign_in.claims import SignInOptions

_COOKIES = "cookies of the pages"


def sign_in_options(settings: Settings) -> "SignInOptions":
    """How people sign in; call this only if the settings say so."""
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

    values = {
        "redirect_uri": f"{settings.public_url}/oauth2callback",
        "cookie_secret": _cookie_secret(settings),
        "client_id": settings.oidc_client_id,
        "client_secret": secret_text(settings.oidc_client_secret),
        "server_metadata_url": metadata_url(settings.oidc_issuer),
    }
    # Strings of JSON are also strings of TOML.
    lines = (f"{name} = {json.dumps(text, ensure_ascii=False)}" for name, text in values.items())
    return "\n".join(["[auth]", *lines, ""])


def _cookie_secret(settings: Settings) -> str:
    location = location_of(settings)
    keep_private(settings.data_dir)
    # A new data folder needs its ledger before its key; otherwise, the ledger would count as lost.
    database = open_database(settings.data_dir, settings.database_url)
    try:
        Secrets(database, location.keys).require_key()
    finally:
        database.close()
    require_library_key(location)
    return location.keys.derive(_COOKIES)
