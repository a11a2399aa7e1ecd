"""Whether the wanted parts of a Drive can be seen, and by whom."""

from dataclasses import dataclass

from loaders.google_drive.calls import DriveCalls
from loaders.google_drive.kinds import FOLDER, SHORTCUT
from loaders.google_drive.trouble import NotVisibleError
from loaders.google_drive.wanted import DriveScope, DriveWanted


@dataclass(frozen=True, slots=True)
class Connection:
    """What a connection test saw.

    `account` is who is signed in, with name and e-mail address. `seen` are the names of the wanted
    folders, files or shared drives that the account sees; `warnings` tell, a sentence for each,
    what it does not see and what to do about it.
    """

    account: str
    seen: tuple[str, ...]
    warnings: tuple[str, ...]


def connect(calls: DriveCalls, wanted: DriveWanted, invite: str) -> Connection:
    """Sign in and look at each of the wanted parts.

    Raises:
        SourceError: The login is refused; SourceUnavailableError where Drive can't be reached.
    """
    user = calls.user()
    seen, warnings = [], []
    for one in wanted.ids:
        try:
            name, wrong = _look(calls, wanted.scope, one)
        except NotVisibleError:
            wrong = f"{one} is not visible to this account: {invite}."
        if wrong:
            warnings.append(wrong)
        else:
            seen.append(name)
    account = f"{user.get('displayName', '')} ({user.get('emailAddress', '')})"
    return Connection(account, tuple(seen), tuple(warnings))


def _look(calls: DriveCalls, scope: DriveScope, wanted: str) -> tuple[str, str]:
    """The name of what is wanted, and what is wrong with it."""
    if scope is DriveScope.DRIVES:
        return calls.drive_name(wanted), ""
    file = calls.file(wanted)
    name, is_folder = file["name"], file["mimeType"] in {FOLDER, SHORTCUT}
    if file.get("trashed"):
        return name, f"{name} is in the trash of Google Drive: restore it."
    if scope is DriveScope.FOLDERS and not is_folder:
        return name, f"{name} is a file: import it as a file, not as a folder."
    if scope is DriveScope.FILES and file["mimeType"] == FOLDER:
        return name, f"{name} is a folder: import it as a folder, not as a file."
    return name, ""
