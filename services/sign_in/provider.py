"""Asks whether an OpenID provider can be reached."""

from domain.errors import SignInError
from domain.logs import outgoing_request
from domain.messages import _

_TIMEOUT_S = 5.0


def metadata_url(issuer: str) -> str:
    """The address at which a provider describes itself (OpenID Connect Discovery)."""
    return f"{issuer.rstrip('/')}/.well-known/openid-configuration"


def check_provider(issuer: str) -> None:
    """Check that the provider describes itself, without retries.

    Raises:
        SignInError: It does not answer within five seconds, or not as a provider.
    """
    import httpx  # slow, and pages without sign-in do not need it

    url = metadata_url(issuer)
    try:
        with outgoing_request("GET", url) as sent:
            response = httpx.get(url, timeout=_TIMEOUT_S)
            sent.status = response.status_code
        response.raise_for_status()
        is_provider = "authorization_endpoint" in response.json()
    except (httpx.HTTPError, ValueError, TypeError):
        is_provider = False
    if not is_provider:
        raise SignInError(
            _("The sign-in service can't be reached: try again later, or tell your administrator.")
        )
