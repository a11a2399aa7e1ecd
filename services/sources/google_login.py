"""Signs a user in to Google once and writes the token to a file."""

from pathlib import Path

from domain.errors import SourceError
from domain.messages import _
from loaders.google_drive.drive_login import authorize
from storage.safe_writes import replace_private_text


def google_login(client: Path, save: Path, *, port: int = 0, open_browser: bool = True) -> None:
    """Sign in with the client's JSON and write the token to the private file `save`.

    Raises:
        SourceError: A file can't be read or written, or the user did not grant access.
    """
    try:
        client_json = client.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(
            _("{client} can't be read: check the path of the client's JSON").format(client=client)
        ) from error
    if not save.parent.is_dir():  # checked before the user signs in
        raise SourceError(
            _("There is no folder {parent}: create it or choose another one.").format(
                parent=save.parent
            )
        )
    if save.is_dir():
        raise SourceError(
            _("{save} is a folder: name a file in it for the token.").format(save=save)
        )
    token = authorize(client_json, port, open_browser=open_browser)
    try:
        replace_private_text(save, token)
    except OSError as error:
        raise SourceError(
            _("{path} can't be written: {strerror}").format(path=save, strerror=error.strerror)
        ) from error
