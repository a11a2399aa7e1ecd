"""The security plugin's settings, certificates, and two users with random passwords."""

import json
import secrets
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.opensearch.artifacts import SECURITY_PLUGIN
from tests.opensearch.certificates import (
    CA_FILE,
    KEY_FILE,
    NODE_FILE,
    NODE_NAME,
    write_certificates,
)
from tests.opensearch.programs import run

HASH_S = 60
ADMIN = "admin"
READER = "reader"
_ROLES = {ADMIN: "admin", READER: "readall"}
"""Of the plugin's sample roles_mapping.yml: all rights, and reading every index."""


@dataclass(frozen=True)
class Security:
    """What a client needs: the CA's certificate and the passwords by user."""

    folder: Path
    passwords: Mapping[str, str]

    @property
    def ca_file(self) -> Path:
        return self.folder / CA_FILE


def prepare_security(folder: Path, layout: Path) -> Security:
    """Write certificates and users.

    The passwords of an earlier start stay, because the security index in its data has them.
    """
    folder.mkdir(mode=0o700, exist_ok=True)
    write_certificates(folder)
    passwords_file = folder / "passwords.json"
    if not passwords_file.exists():
        passwords_file.write_text(json.dumps(_new_passwords()), encoding="utf-8")
    passwords = json.loads(passwords_file.read_text("utf-8"))
    _write_users(folder, passwords, layout)
    return Security(folder, passwords)


def _new_passwords() -> dict[str, str]:
    return {user: secrets.token_urlsafe(16) for user in _ROLES}


def _write_users(folder: Path, passwords: Mapping[str, str], layout: Path) -> None:
    """Write internal_users.yml; JSON is valid YAML."""
    users: dict[str, object] = {"_meta": {"type": "internalusers", "config_version": 2}}
    for user, password in passwords.items():
        users[user] = {"hash": _hash(password, layout), "backend_roles": [_ROLES[user]]}
    (folder / "internal_users.yml").write_text(json.dumps(users), encoding="utf-8")


def _hash(password: str, layout: Path) -> str:
    plugin = layout / "plugins" / SECURITY_PLUGIN
    command = ["java", "-cp", f"{plugin}/*:{layout / 'core'}/*"]
    command += ["org.opensearch.security.tools.Hasher", "-env", "HASHER_PASSWORD"]
    failure = "the security plugin could not hash a password"
    output = run(command, limit_s=HASH_S, failure=failure, HASHER_PASSWORD=password)
    return output.splitlines()[-1].strip()


def place_security(security: Security, config: Path, layout: Path) -> None:
    """Give a node its certificates, the plugin's sample configuration, and the users."""
    for name in (CA_FILE, NODE_FILE, KEY_FILE):
        shutil.copy(security.folder / name, config / name)
    sample = layout / "plugins" / SECURITY_PLUGIN / "config"
    target = config / SECURITY_PLUGIN
    shutil.copytree(sample, target)
    shutil.copy(security.folder / "internal_users.yml", target)


def security_settings() -> dict[str, object]:
    """HTTPS and TLS between nodes; `admin` may add users and roles over REST."""
    settings: dict[str, object] = {
        "plugins.security.ssl.http.enabled": True,
        "plugins.security.nodes_dn": [f"CN={NODE_NAME}"],
        "plugins.security.allow_default_init_securityindex": True,
        "plugins.security.restapi.roles_enabled": ["all_access"],
    }
    for layer in ("http", "transport"):
        settings[f"plugins.security.ssl.{layer}.pemcert_filepath"] = NODE_FILE
        settings[f"plugins.security.ssl.{layer}.pemkey_filepath"] = KEY_FILE
        settings[f"plugins.security.ssl.{layer}.pemtrustedcas_filepath"] = CA_FILE
    return settings
