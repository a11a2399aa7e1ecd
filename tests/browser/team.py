"""The program of a team whose people sign in at a provider on loopback."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from streamlit.web.server.starlette.starlette_app_utils import create_signed_value

from bootstrap import streamlit_secrets
from domain import Account
from settings import load_settings
from storage.ledger.account_store import Accounts
from storage.ledger.database import open_database
from tests.browser.openid_provider import (
    CLIENT_ID,
    CLIENT_SECRET,
    OpenIdProvider,
    openid_provider,
)
from tests.browser.program import running
from tests.fakes.openai import EMBEDDING_MODEL, OpenAIServer
from tests.servers import free_port
from ui.text import words

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

COOKIE = "_streamlit_user"


@dataclass(frozen=True)
class Team:
    """A running program with sign-in, its provider, and what it printed."""

    address: str
    provider: OpenIdProvider
    data_dir: Path
    output: Path

    @property
    def accounts(self) -> Accounts:
        return Accounts(open_database(self.data_dir))

    def account(self, name: str) -> Account:
        return next(one for one in self.accounts.list() if one.name == name)

    @property
    def cookie_secret(self) -> str:
        settings = load_settings(
            data_dir=self.data_dir,
            oidc_issuer=self.provider.issuer,
            oidc_client_id=CLIENT_ID,
            oidc_client_secret=CLIENT_SECRET,
            public_url=self.address,
        )
        line = next(
            one for one in streamlit_secrets(settings).splitlines() if "cookie_secret" in one
        )
        return json.loads(line.partition(" = ")[2])


@contextmanager
def running_team(
    environment: Mapping[str, str], embedder: OpenAIServer, folder: Path
) -> Iterator[Team]:
    """Run the program and the provider until the end of the block; `folder` is for their files."""
    port, data_dir, output = free_port(), folder / "data", folder / "output.txt"
    embedding = {
        "FOOTNOTE_DATA_DIR": str(data_dir),
        "FOOTNOTE_EMBEDDING_PROVIDER": "openai",
        "FOOTNOTE_EMBEDDING_MODEL": EMBEDDING_MODEL,
        "FOOTNOTE_EMBEDDING_BASE_URL": embedder.url,
    }
    with openid_provider(folder, f"http://localhost:{port}") as provider:
        settings = {**environment, **embedding, **provider.settings}
        with running(settings, port=port, output=output) as program:
            yield Team(program.address, provider, data_dir, output)


def sign_in_button(page: "Page") -> "Locator":
    return page.get_by_role("button", name=words.SIGN_IN)


def sign_in(page: "Page", team: Team, person: str, name: str) -> None:
    """Open the start page and sign in at the provider as one of its people."""
    page.goto(team.address)
    sign_in_here(page, person, name)


def sign_in_here(page: "Page", person: str, name: str) -> None:
    """Sign in on the opened page, to which the provider returns."""
    sign_in_button(page).click()
    page.get_by_role("link", name=person).click()
    person_menu(page, name).wait_for()


def person_menu(page: "Page", name: str) -> "Locator":
    return page.locator(".st-key-person").get_by_role("button", name=name)


def cookie(team: Team, secret: str, **changes: object) -> dict[str, str]:
    """A cookie as the pages write it, signed with this secret."""
    claims = {
        "iss": team.provider.issuer,
        "sub": "eve",
        "aud": CLIENT_ID,
        "iat": datetime.now(UTC).timestamp(),
        "nonce": "n-1",
        "name": "Eve",
        "origin": team.address,
        "is_logged_in": True,
        "provider": "default",
    } | changes
    value = create_signed_value(secret, COOKIE, json.dumps(claims)).decode()
    return {"name": COOKIE, "value": value, "url": team.address}
