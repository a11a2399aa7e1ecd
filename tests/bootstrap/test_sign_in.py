import stat
import sys
import tomllib
from pathlib import Path

import pytest
from streamlit import config
from streamlit.config import get_option
from streamlit.web.bootstrap import load_config_options

from bootstrap import streamlit_secrets
from bootstrap.hosting import is_only_for_this_machine, make_host_policy
from commands import pages_process
from settings import load_settings
from storage.ledger.secret_store import EncryptionKeys, new_key

SIGN_IN = {
    "oidc_issuer": "https://login.example.com/realms/staff",
    "oidc_client_id": 'foot"note',
    "oidc_client_secret": "s\\e'c\"r\tet-\u00e9\U0001f600",
    "public_url": "https://docs.example.com",
}


@pytest.fixture(autouse=True)
def _no_env_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # Restored afterward, because `load_config_options` reads the configuration of this folder.
    monkeypatch.setattr(config, "_config_options", config._config_options)


def settings_in(folder, **more):
    return load_settings(data_dir=folder, **{**SIGN_IN, **more})


def secrets_of(settings):
    return tomllib.loads(streamlit_secrets(settings))["auth"]


def test_streamlit_gets_the_settings_exactly(tmp_path):
    secrets = secrets_of(settings_in(tmp_path / "data"))
    assert secrets.pop("cookie_secret")
    assert secrets == {
        "redirect_uri": "https://docs.example.com/oauth2callback",
        "client_id": SIGN_IN["oidc_client_id"],
        "client_secret": SIGN_IN["oidc_client_secret"],
        "server_metadata_url": f"{SIGN_IN['oidc_issuer']}/.well-known/openid-configuration",
    }


def test_processes_with_one_encryption_key_share_their_cookies(tmp_path):
    first = secrets_of(settings_in(tmp_path / "a"))["cookie_secret"]
    assert secrets_of(settings_in(tmp_path / "a"))["cookie_secret"] == first
    assert secrets_of(settings_in(tmp_path / "b"))["cookie_secret"] != first
    key = new_key()
    shared = [secrets_of(settings_in(tmp_path / name, encryption_key=key)) for name in "cd"]
    assert shared[0]["cookie_secret"] == shared[1]["cookie_secret"]
    assert len(first) == 64


def test_secrets_for_different_purposes_differ_and_do_not_contain_the_key(tmp_path):
    key = new_key()
    keys = EncryptionKeys(tmp_path, f" {key},{new_key()}")
    assert keys.derive("a") == EncryptionKeys(tmp_path, key).derive("a")
    assert keys.derive("a") != keys.derive("b")
    assert key not in keys.derive("a")


def test_a_new_data_folder_is_private_and_has_a_ledger(tmp_path):
    folder = tmp_path / "data"
    streamlit_secrets(settings_in(folder))
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert (folder / "footnote.db").exists()
    assert secrets_of(settings_in(folder))


def started_with(monkeypatch, settings):
    """Streamlit's secrets files with their modes, and its last option, while it runs."""
    found = []

    def serve(prog_name):
        options = [one for one in sys.argv if one.startswith("--secrets.files=")]
        files = [Path(one.partition("=")[2]) for one in options]
        modes = [
            (stat.S_IMODE(file.stat().st_mode), stat.S_IMODE(file.parent.stat().st_mode))
            for file in files
        ]
        found.append((files, modes, sys.argv[-1]))
        raise KeyboardInterrupt

    monkeypatch.setattr(pages_process.cli, "main", serve)
    monkeypatch.setattr(pages_process, "settings_at_start", lambda: settings)
    monkeypatch.setattr(pages_process, "bound_memory", lambda: None)
    monkeypatch.setattr(sys, "argv", ["pages"])
    with pytest.raises(KeyboardInterrupt):
        pages_process.main()
    return found[0]


def test_the_secrets_file_is_private_and_exists_only_while_the_pages_run(tmp_path, monkeypatch):
    files, modes, _ = started_with(monkeypatch, settings_in(tmp_path / "data"))
    assert modes == [(0o600, 0o700)]
    assert not files[0].exists()
    assert not files[0].parent.exists()


def test_there_is_no_secrets_file_without_sign_in(tmp_path, monkeypatch):
    settings = load_settings(data_dir=tmp_path / "data")
    assert started_with(monkeypatch, settings)[:2] == ([], [])


@pytest.fixture
def trusted_header(tmp_path):
    """An operator's configuration of Streamlit that believes a header."""
    file = tmp_path / ".streamlit" / "config.toml"
    file.parent.mkdir()
    file.write_text('[server.trustedUserHeaders]\n"X-Person" = "sub"\n', encoding="utf-8")
    load_config_options({})
    assert get_option("server.trustedUserHeaders") == {"X-Person": "sub"}
    yield
    file.unlink()
    load_config_options({})


def test_no_header_of_a_request_says_who_a_person_is(tmp_path, monkeypatch, trusted_header):
    option = started_with(monkeypatch, settings_in(tmp_path / "data"))[2].removeprefix("--")
    name, _, value = option.partition("=")
    load_config_options({name.replace(".", "_"): value})
    assert get_option("server.trustedUserHeaders") == {}


def test_the_host_of_the_public_address_is_accepted(tmp_path):
    policy = make_host_policy(settings_in(tmp_path), "localhost")
    assert policy.refusal(["docs.example.com"], ["https://docs.example.com"]) is None
    assert policy.refusal(["other.example.com"], []).status == 403


@pytest.mark.parametrize(
    ("public_url", "is_local"),
    [("https://docs.example.com", False), ("http://localhost:8501", True)],
)
def test_pages_with_a_public_address_are_not_only_for_this_machine(tmp_path, public_url, is_local):
    settings = settings_in(tmp_path, public_url=public_url)
    assert is_only_for_this_machine(settings) is is_local
