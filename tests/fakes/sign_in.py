"""How people sign in, in tests without a provider."""

from datetime import timedelta

from domain import Role
from services.sign_in.claims import SignInOptions


def sign_in_options(issuer="https://login.example.com"):
    """Sessions of twelve hours, and the role reader at first."""
    return SignInOptions(
        issuer=issuer,
        client_id="footnote",
        groups_claim="groups",
        public_url="https://docs.example.com",
        session=timedelta(hours=12),
        default_role=Role.READER,
    )
