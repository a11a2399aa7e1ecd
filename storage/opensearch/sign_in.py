"""How requests to a cluster are encrypted and signed."""

import ssl
from base64 import b64encode
from pathlib import Path

from domain.errors import ConfigError
from domain.messages import _


def basic_header(user: str, password: str) -> str:
    """Basic authentication in UTF-8; that of the client is limited to Latin-1."""
    return "Basic " + b64encode(f"{user}:{password}".encode()).decode()


def tls_context(ca_file: Path | None) -> ssl.SSLContext:
    """Verifies certificates with the authorities in the file, or with those of the system."""
    try:
        return ssl.create_default_context(cafile=ca_file)
    except OSError as error:
        raise ConfigError(
            _(
                "The CA file {file} can't be read ({reason}): check its path"
                " (FOOTNOTE_SEARCH_CA_FILE), its permissions, and that it has certificates in PEM"
                " format."
            ).format(file=ca_file, reason=error.strerror)
        ) from error


def aws_signer(region: str) -> object:
    """Signs requests (SigV4) with the credentials that AWS's own tools find."""
    try:
        from botocore.session import Session  # type: ignore[import-not-found]
    except ImportError as error:
        raise ConfigError(
            _(
                "Signing requests to AWS (FOOTNOTE_SEARCH_AWS_REGION) needs the package botocore:"
                " run `pip install botocore`."
            )
        ) from error
    from opensearchpy import Urllib3AWSV4SignerAuth

    credentials = Session().get_credentials()
    if credentials is None:
        raise ConfigError(
            _(
                "There are no AWS credentials to sign requests with, as FOOTNOTE_SEARCH_AWS_REGION"
                " requires: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or use a role."
            )
        )
    return Urllib3AWSV4SignerAuth(credentials, region)
