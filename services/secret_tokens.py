"""Secrets that programs and links contain, and their digests, which are stored instead."""

import hashlib
import secrets

_BYTES = 32


def new_token() -> str:
    """A new secret of 256 random bits, as text for addresses and headers."""
    return secrets.token_urlsafe(_BYTES)


def token_digest(token: str) -> str:
    """The digest that is stored instead of the secret."""
    # Salts and slow hashes protect passwords that people can remember. This is 256 random bits.
    return hashlib.sha256(token.encode()).hexdigest()
