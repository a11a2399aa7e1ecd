"""The secrets of sources: stored encrypted, or in environment variables."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from domain.errors import SourceError
from domain.messages import _
from storage.ledger.secret_store import Secrets, new_key
from storage.ledger.source_store import StoredSource

__all__ = ["SourceSecrets", "is_reference", "new_key", "reference_option"]

_VARIABLE = re.compile(r"\$[A-Z_][A-Z0-9_]*")
_ALLOWED = "$FOOTNOTE_SECRET_"


class SourceSecrets:
    """Stores the secrets that users enter, and reveals them only to loaders.

    A value "$FOOTNOTE_SECRET_NAME" names an environment variable and is stored in the source's
    options; any other value is encrypted.
    """

    def __init__(self, secrets: Secrets, variable: Callable[[str], str]) -> None:
        """`variable` returns the value of an environment variable, "" if it is not set."""
        self._secrets = secrets
        self._variable = variable

    def value(self, value: str, *, is_json: bool = False) -> str:
        """The secret that a form value contains or references.

        With `is_json`, the variable may contain the path of a file.

        Raises:
            SourceError: The value references a variable that is not allowed or not set.
            ConfigError: The secret must be stored, but the encryption key is lost or damaged or
                can't be created.
        """
        if is_reference(value):
            return self._from_variable(value, is_json=is_json)
        self._secrets.require_key()
        return value

    def of(self, source: StoredSource, name: str, *, is_json: bool = False) -> str:
        """The secret of a saved source; for `is_json`, see `value`.

        Raises:
            SourceError: There is none, or it can't be decrypted; the message says what to do.
            ConfigError: The encryption key is lost or damaged.
        """
        reference = str(source.options.get(name) or "")
        if reference:
            return self._from_variable(reference, is_json=is_json)
        return self._secrets.get(source.id, name)

    def save(self, source: StoredSource, name: str, value: str) -> None:
        """Store a form value as the source's secret, unless it is a reference.

        Raises:
            ConfigError: The encryption key is lost or damaged or can't be created.
        """
        if is_reference(value):
            self._secrets.forget(source.id)
        else:
            self._secrets.save(source.id, name, value)

    def rotate(self) -> int:
        """Encrypt all stored secrets with the first key and return their number.

        Raises:
            SourceError: A secret can't be decrypted; nothing was changed.
            ConfigError: The encryption key is lost or damaged.
        """
        return self._secrets.rotate()

    def _from_variable(self, reference: str, *, is_json: bool) -> str:
        # A form must not give its users access to other variables.
        if not reference.startswith(_ALLOWED):
            raise SourceError(
                _(
                    "Only variables that start with FOOTNOTE_SECRET_ can be used as secrets: enter"
                    " $FOOTNOTE_SECRET_NAME."
                )
            )
        name = reference.removeprefix("$")
        secret = self._variable(name).strip()  # secret files often end with a newline
        if not secret:
            raise SourceError(
                _(
                    "The variable {name} is not set: set it in .env or in the environment of"
                    " Footnote and its worker."
                ).format(name=name)
            )
        return secret if not is_json or secret.lstrip().startswith("{") else _content(name, secret)


def _content(name: str, path: str) -> str:
    """The content of the file; messages omit the path, which might be a misplaced secret."""
    try:
        return Path(path.strip()).expanduser().read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else _("it is not UTF-8 text")
        raise SourceError(
            _(
                "The variable {name} contains neither JSON nor the path of a readable file"
                " ({reason}): correct it in .env or in the environment of Footnote and its worker."
            ).format(name=name, reason=reason)
        ) from None


def is_reference(value: str) -> bool:
    """Whether a value references a variable; passwords may start with $ too."""
    return _VARIABLE.fullmatch(value) is not None


def reference_option(name: str, value: str) -> Mapping[str, Any]:
    """The option that stores the reference to a secret's variable, "" for an encrypted secret."""
    return {name: value if is_reference(value) else ""}
