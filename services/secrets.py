"""The secrets that sources are read with: kept encrypted, or named in the environment."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from errors import SourceError
from storage.encryption_keys import new_key
from storage.secrets import Secrets
from storage.sources import StoredSource

__all__ = ["SourceSecrets", "is_reference", "new_key", "reference_option"]

_VARIABLE = re.compile(r"\$[A-Z_][A-Z0-9_]*")
_ALLOWED = "$FOOTNOTE_SECRET_"


class SourceSecrets:
    """Takes the secret of a form and gives it to the loader; nobody else sees it.

    A value "$FOOTNOTE_SECRET_NAME" names a variable of the environment and is kept among the
    source's options; any other is kept encrypted.
    """

    def __init__(self, secrets: Secrets, variable: Callable[[str], str]) -> None:
        """Args: where secrets are kept, and what a variable of the environment holds ("": none)."""
        self._secrets = secrets
        self._variable = variable

    def value(self, given: str, *, is_json: bool = False) -> str:
        """The secret that a form's value stands for.

        One that `is_json` may be in a file that the variable names; a form can name no file.

        Raises:
            SourceError: It names a variable that may not be named or is not set.
            ConfigError: It is to be kept, and its key is lost, damaged or can't be made.
        """
        if is_reference(given):
            return self._named(given, is_json=is_json)
        self._secrets.require_key()
        return given

    def of(self, source: StoredSource, name: str, *, is_json: bool = False) -> str:
        """The secret of a source that is kept; `is_json` as for `value`.

        Raises:
            SourceError: There is none (any more), or it can't be decrypted; what to do is said.
            ConfigError: The key to decrypt it with is lost or damaged.
        """
        reference = str(source.options.get(name) or "")
        if reference:
            return self._named(reference, is_json=is_json)
        return self._secrets.get(source.id, name)

    def keep(self, source: StoredSource, name: str, given: str) -> None:
        """Keep what a form gave as the source's one secret; a reference needs no keeping.

        Raises:
            ConfigError: Its key is lost, damaged or can't be made.
        """
        if is_reference(given):
            self._secrets.forget(source.id)
        else:
            self._secrets.keep(source.id, name, given)

    def rotate(self) -> int:
        """Encrypt all that is kept with the key that comes first; how many there are.

        Raises:
            SourceError: One can't be decrypted; none is changed then.
            ConfigError: The key is lost or damaged.
        """
        return self._secrets.rotate()

    def _named(self, reference: str, *, is_json: bool) -> str:
        # Other variables are none of the business of whoever fills in a form.
        if not reference.startswith(_ALLOWED):
            raise SourceError(
                "Only variables that begin with FOOTNOTE_SECRET_ can be named as secrets: write it"
                " as $FOOTNOTE_SECRET_NAME."
            )
        name = reference.removeprefix("$")
        secret = self._variable(name).strip()  # files of secrets often end with a new line
        if not secret:
            raise SourceError(
                f"The variable {name} is not set: set it in .env, or in the environment of Footnote"
                " and its worker."
            )
        return secret if not is_json or secret.lstrip().startswith("{") else _content(name, secret)


def _content(name: str, path: str) -> str:
    """What the file holds; no message quotes the path, which could be a secret by mistake."""
    try:
        return Path(path.strip()).expanduser().read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not a text in UTF-8"
        raise SourceError(
            f"The variable {name} holds neither JSON nor the path of a file that can be read"
            f" ({reason}): correct it in .env, or in the environment of Footnote and its worker."
        ) from None


def is_reference(given: str) -> bool:
    """Whether a value names a variable instead of being the secret; passwords may begin with $."""
    return _VARIABLE.fullmatch(given) is not None


def reference_option(name: str, given: str) -> Mapping[str, Any]:
    """What the options say of a secret: the variable it is in, "" where it is kept encrypted."""
    return {name: given if is_reference(given) else ""}
