"""Files that installed packages bring, used only where they are the pinned ones."""

import hashlib
from pathlib import Path

from errors import ConfigError


def verified_bytes(path: Path, sha256: str) -> bytes:
    """What the file holds.

    Raises:
        ConfigError: It is missing, or not the pinned file.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise unknown_model(path, str(error)) from error
    check_sha256(path, hashlib.sha256(data).hexdigest(), sha256)
    return data


def check_sha256(path: Path, found: str, expected: str) -> None:
    """Compare the checksum of a file with the pinned one.

    Raises:
        ConfigError: They differ.
    """
    if found != expected:
        raise unknown_model(path, f"its sha256 is {found}, expected {expected}")


def unknown_model(path: Path, reason: str) -> ConfigError:
    """What to raise for a file that can't be used, for this reason."""
    return ConfigError(
        f"{path} is not the model this program knows ({reason}). Run `make setup` to install the "
        "pinned requirements again."
    )
