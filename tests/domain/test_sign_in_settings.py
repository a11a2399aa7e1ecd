import pytest

from domain import Role
from domain.errors import ConfigError
from domain.web.host_policy import Host
from settings import load_settings

COMPLETE = {
    "FOOTNOTE_OIDC_ISSUER": "https://login.example.com/realms/staff",
    "FOOTNOTE_OIDC_CLIENT_ID": "footnote",
    "FOOTNOTE_OIDC_CLIENT_SECRET": "planted-secret",
    "FOOTNOTE_PUBLIC_URL": "https://docs.example.com/",
}


@pytest.fixture(autouse=True)
def _no_env_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def complete(monkeypatch):
    for name, value in COMPLETE.items():
        monkeypatch.setenv(name, value)


def test_there_is_no_sign_in_by_default():
    settings = load_settings()
    assert (settings.has_sign_in, settings.public_host) == (False, None)
    assert (settings.session_hours, settings.default_role) == (12, Role.READER)


def test_the_four_required_settings_turn_the_sign_in_on(complete):
    settings = load_settings()
    assert settings.has_sign_in
    assert settings.public_url == "https://docs.example.com"
    assert settings.public_host == Host("docs.example.com")
    assert "planted-secret" not in repr(settings)


@pytest.mark.parametrize("missing", COMPLETE)
def test_a_missing_one_of_them_is_named(complete, monkeypatch, missing):
    monkeypatch.delenv(missing)
    with pytest.raises(ConfigError, match=f"also set {missing}[.]"):
        load_settings()


def test_tokens_for_the_api_need_the_sign_in(complete, monkeypatch):
    monkeypatch.setenv("FOOTNOTE_OIDC_API_AUDIENCE", "https://docs.example.com/api")
    assert load_settings().oidc_api_audience == "https://docs.example.com/api"
    for name in COMPLETE:
        monkeypatch.delenv(name)
    with pytest.raises(ConfigError, match="also set FOOTNOTE_OIDC_ISSUER, "):
        load_settings()


@pytest.mark.parametrize("variable", ["FOOTNOTE_OIDC_ISSUER", "FOOTNOTE_PUBLIC_URL"])
@pytest.mark.parametrize(
    "address",
    [
        "http://login.example.com",
        "http://10.0.0.5",
        "login.example.com",
        "ftp://login.example.com",
        "https://",
        "https://ada:planted-secret@login.example.com",
        "https://login.example.com?a=1",
        "https://login.example.com#a",
        "https://login.example.com\\@evil.example",
        "https://login example.com",
        "https://[::1",
    ],
)
def test_an_address_without_https_or_with_other_parts_is_rejected(
    complete, monkeypatch, variable, address
):
    monkeypatch.setenv(variable, address)
    with pytest.raises(ConfigError, match=f"{variable} is not valid") as raised:
        load_settings()
    assert "planted-secret" not in str(raised.value)


@pytest.mark.parametrize("address", ["http://localhost:8501", "http://127.0.0.1", "http://[::1]:1"])
def test_http_is_permitted_on_this_machine(complete, monkeypatch, address):
    monkeypatch.setenv("FOOTNOTE_PUBLIC_URL", address)
    assert load_settings().public_url == address


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("FOOTNOTE_SESSION_HOURS", "0"),
        ("FOOTNOTE_SESSION_HOURS", "nan"),
        ("FOOTNOTE_SESSION_HOURS", "721"),
        ("FOOTNOTE_DEFAULT_ROLE", "owner"),
        ("FOOTNOTE_DEFAULT_ROLE", "admin"),
    ],
)
def test_a_value_out_of_range_is_reported_with_its_variable(monkeypatch, variable, value):
    monkeypatch.setenv(variable, value)
    with pytest.raises(ConfigError, match=variable):
        load_settings()
