"""The settings of the sign-in with OpenID Connect, which are set together or not at all."""

from typing import Annotated, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, Field, SecretStr, model_validator

from domain.errors import ConfigError
from domain.messages import _
from domain.people import Role
from domain.setting_values import variable_of
from domain.web.host_policy import Host

_REQUIRED = ("oidc_issuer", "oidc_client_id", "oidc_client_secret", "public_url")
_COOKIE_HOURS = 30 * 24
"""Streamlit's cookie, which contains the sign-in, lasts this long."""


def _check_issuer(text: str) -> str:
    return _check_address(text, variable_of("oidc_issuer"))


def _check_public_url(text: str) -> str:
    return _check_address(text, variable_of("public_url")).rstrip("/")


def _check_address(text: str, variable: str) -> str:
    if text and not _is_address(text):
        raise ConfigError(
            _(
                "{variable} is not valid: use an address that begins with https:// and has no user"
                " name, password, query (?), or fragment (#), such as https://docs.example.com."
                " http:// is permitted only for localhost."
            ).format(variable=variable)
        )
    return text


def _is_address(text: str) -> bool:
    """Whether it is an address with HTTPS, or with HTTP on this machine; the path is free."""
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    host = Host.parse(parts.netloc)
    if host is None or not text.isprintable() or any(sign in text for sign in "@?#\\ "):
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and host.is_loopback)


def _check_default_role(role: Role) -> Role:
    if role is Role.ADMIN:
        raise ConfigError(
            _(
                "{variable} can't be admin, which would make everyone who signs in an"
                " administrator: set it to reader or editor, and use"
                " `python cli.py account set-role ID admin` for administrators."
            ).format(variable=variable_of("default_role"))
        )
    return role


class SignInSettings(BaseModel):
    """The settings of the sign-in; without the required ones, the pages have a single user."""

    oidc_issuer: Annotated[str, AfterValidator(_check_issuer)] = Field(
        "", description="Address of the OpenID provider at which people sign in (its issuer)"
    )
    oidc_client_id: str = Field("", description="Client ID of Footnote at that provider")
    oidc_client_secret: SecretStr | None = Field(
        None, description="Client secret of Footnote at that provider"
    )
    oidc_groups_claim: str = Field(
        "groups", min_length=1, description="Claim of the ID token that lists a person's groups"
    )
    oidc_api_audience: str = Field(
        "", description="Audience of that provider's bearer tokens for the API; none if empty"
    )
    public_url: Annotated[str, AfterValidator(_check_public_url)] = Field(
        "", description="Address at which browsers open the pages"
    )
    session_hours: float = Field(
        12, gt=0, le=_COOKIE_HOURS, description="Hours until a person must sign in again"
    )
    default_role: Annotated[Role, AfterValidator(_check_default_role)] = Field(
        Role.READER, description="Role of a person who signs in for the first time"
    )

    @property
    def has_sign_in(self) -> bool:
        """Whether the pages require people to sign in."""
        return bool(self.oidc_issuer)

    @property
    def public_host(self) -> Host | None:
        """The host at which browsers open the pages, if the setting says so."""
        return Host.parse(urlsplit(self.public_url).netloc)

    @model_validator(mode="after")
    def _check_sign_in(self) -> Self:
        missing = [variable_of(name) for name in _REQUIRED if not getattr(self, name)]
        if missing and (self.oidc_api_audience or len(missing) < len(_REQUIRED)):
            raise ConfigError(
                _("To let people sign in, also set {missing}.").format(missing=", ".join(missing))
            )
        return self
