"""Lets a person sign in to Google once, and keeps what comes of it in a file of theirs."""

import os
from pathlib import Path

from errors import SourceError
from loaders.google_drive.authorize import authorize


def google_login(client: Path, save: Path, *, port: int = 0, open_browser: bool = True) -> None:
    """Sign in with the client's JSON and write the token, which nobody else may read, to `save`.

    Raises:
        SourceError: A file can't be read or written, or the person did not allow it.
    """
    try:
        client_json = client.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"{client} can't be read: check the path of the client's JSON") from error
    if not save.parent.is_dir():  # told before somebody signs in for nothing
        raise SourceError(f"There is no folder {save.parent}: make it, or save elsewhere.")
    if save.is_dir():
        raise SourceError(f"{save} is a folder: name a file in it to save the token in.")
    _write_private(save, authorize(client_json, port, open_browser=open_browser))


def _write_private(path: Path, text: str) -> None:
    """Write it anew, readable by its owner alone from the first moment."""
    new = path.with_name(f"{path.name}.new")
    try:
        new.unlink(missing_ok=True)
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        new.replace(path)
    except OSError as error:
        raise SourceError(f"{path} can't be written: {error.strerror}") from error
