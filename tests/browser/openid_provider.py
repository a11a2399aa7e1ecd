"""A certified OpenID provider on loopback, at which people sign in by choosing their name."""

import json
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.interop.programs import INTEROP, node_packages
from tests.servers import free_port

FOLDER = INTEROP / "oidc_provider"
CLIENT_ID, CLIENT_SECRET = "footnote", "a-secret-of-the-tests"
PEOPLE = {
    "ada": {"name": "Ada Lovelace", "email": "ada@example.com", "groups": ["hr", "staff"]},
    "ben": {"name": "Ben Ohm", "email": "ada@example.com"},
}


@dataclass(frozen=True)
class OpenIdProvider:
    """A running provider for the pages at `public_url`."""

    issuer: str
    public_url: str
    process: subprocess.Popen

    @property
    def settings(self) -> dict[str, str]:
        """The settings of a program whose people sign in here."""
        return {
            "FOOTNOTE_OIDC_ISSUER": self.issuer,
            "FOOTNOTE_OIDC_CLIENT_ID": CLIENT_ID,
            "FOOTNOTE_OIDC_CLIENT_SECRET": CLIENT_SECRET,
            "FOOTNOTE_PUBLIC_URL": self.public_url,
        }

    @contextmanager
    def silent(self) -> Iterator[None]:
        """Do not answer during the block, as if the network were down."""
        self.process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self.process.send_signal(signal.SIGCONT)


@contextmanager
def openid_provider(
    folder: Path, public_url: str, *, api: str = "", people: Mapping[str, object] = PEOPLE
) -> Iterator[OpenIdProvider]:
    """Run the provider until the end of the block; `folder` is for its settings.

    With the audience `api`, the client itself gets access tokens for it.
    """
    node_packages(FOLDER.name)
    back = [f"{public_url}/oauth2callback"]
    client = {
        "client_id": CLIENT_ID,
        "client_secret": CLIENT_SECRET,
        "redirect_uris": back,
        "post_logout_redirect_uris": back,
    }
    if api:
        client["grant_types"] = ["authorization_code", "client_credentials"]
    settings = folder / "provider.json"
    values = {"client": client, "people": dict(people), "api": api}
    settings.write_text(json.dumps(values), encoding="utf-8")
    port = free_port()
    process = subprocess.Popen(
        ["node", FOLDER / "provider.mjs", str(port), settings],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout.readline() == "ready\n"
        yield OpenIdProvider(f"http://localhost:{port}", public_url, process)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
