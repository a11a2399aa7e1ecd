"""Checks the addresses of OpenSearch nodes, how to sign in, and the names of indexes."""

from collections.abc import Sequence
from urllib.parse import urlsplit

from domain.errors import ConfigError
from domain.messages import _
from domain.web.host_policy import Host

URL = "FOOTNOTE_SEARCH_URL"
INDEX = "FOOTNOTE_SEARCH_INDEX"

_INVALID_IN_NAMES = frozenset('\\/*?"<>|,#:')
_NAME_BYTES = 200
"""OpenSearch allows 255; the names of indexes are this name and a suffix."""


def parse_node_urls(text: str) -> Sequence[str]:
    """The comma-separated addresses of nodes; none if the text is blank.

    Raises:
        ConfigError: One is not an address, or has a path, query, or password. The message does not
            contain it, because it may be a secret.
    """
    if "@" in text:
        raise ConfigError(
            _(
                "{setting} must not contain a user name or a password: set FOOTNOTE_SEARCH_USER and"
                " FOOTNOTE_SEARCH_PASSWORD instead."
            ).format(setting=URL)
        )
    entries = [entry.strip() for entry in text.split(",")]
    urls = [entry for entry in entries if entry]
    if not urls and text.strip():
        raise _invalid_url()
    return [_node_url(url) for url in urls]


def _node_url(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise _invalid_url() from error
    has_more = parts.path.strip("/") or "?" in url or "#" in url or not url.isprintable()
    if parts.scheme not in ("http", "https") or has_more or Host.parse(parts.netloc) is None:
        raise _invalid_url()
    return f"{parts.scheme}://{parts.netloc}"


def _invalid_url() -> ConfigError:
    return ConfigError(
        _(
            "{setting} is not valid: use addresses of OpenSearch nodes, separated by commas, that"
            " consist of http:// or https://, a host, and a port, such as"
            " https://search.example.com:9200."
        ).format(setting=URL)
    )


def check_node_urls(text: str) -> str:
    """Return the text if it is valid; raises like `parse_node_urls`."""
    parse_node_urls(text)
    return text


def check_sign_in(user: str, has_password: bool, aws_region: str) -> None:
    """Reject a user without a password, the reverse, and two ways to sign in at once.

    Raises:
        ConfigError: The message names the settings.
    """
    if bool(user) != has_password:
        raise ConfigError(
            _("Set both FOOTNOTE_SEARCH_USER and FOOTNOTE_SEARCH_PASSWORD, or neither of them.")
        )
    if ":" in user:
        raise ConfigError(_("FOOTNOTE_SEARCH_USER must not contain a colon."))
    if user and aws_region:
        raise ConfigError(
            _(
                "FOOTNOTE_SEARCH_USER and FOOTNOTE_SEARCH_AWS_REGION can't be set together: choose"
                " a user name and a password, or signed requests."
            )
        )


def check_index_name(name: str) -> str:
    """Return the name if OpenSearch allows indexes whose names begin with it.

    Raises:
        ConfigError: It does not.
    """
    has_invalid = any(
        char in _INVALID_IN_NAMES or char.isspace() or not char.isprintable() for char in name
    )
    if (
        has_invalid
        or name != name.lower()
        or name in ("", ".", "..")
        or name.startswith(("-", "_", "+"))
        or len(name.encode("utf-8", "surrogatepass")) > _NAME_BYTES
    ):
        raise _invalid_name(name)
    return name


def _invalid_name(name: str) -> ConfigError:
    return ConfigError(
        _(
            "{setting}: {name} is not a valid name of an index. Use lowercase letters, digits, and"
            " hyphens, at most {limit} bytes; begin with a letter or a digit."
        ).format(setting=INDEX, name=repr(name), limit=_NAME_BYTES)
    )
