"""A Drive's files as documents: lists them, whole or by what has changed, and reads one."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from domain import NOTHING_BEFORE, Before, DocumentRef, Listed, Wait
from errors import UnreadableError, UnreadableNowError
from loaders.files import DEFAULT_MAX_BYTES
from loaders.formats.titles import name_in_folder
from loaders.google_drive.calls import DriveCalls, File
from loaders.google_drive.connection import Connection, connect
from loaders.google_drive.export import document_of
from loaders.google_drive.kinds import link_of
from loaders.google_drive.listing import Listing
from loaders.google_drive.login import DriveLogin
from loaders.google_drive.service import API_URL, DriveServices
from loaders.google_drive.tree import Path, empty_tree, version_of
from loaders.google_drive.wanted import DriveWanted

if TYPE_CHECKING:  # slow, and a Drive without news needs none of it
    from langchain_core.documents import Document


class DriveFiles:
    """Lists and reads what of a Drive is wanted.

    A key is a file's id; its version is of its content, name and folders, so that what was only
    looked at, shared or moved within a folder of another name is read again when its text or its
    place is another, and not else.
    """

    def __init__(
        self,
        login: DriveLogin,
        wanted: DriveWanted,
        wait: Wait,
        *,
        api_url: str = API_URL,
        max_bytes: int = DEFAULT_MAX_BYTES,
    ) -> None:
        """Args: `max_bytes` bounds each file; `wait` is called where Google asks for patience."""
        self._login = login
        self._wanted = wanted
        self._max_bytes = max_bytes
        self._calls = DriveCalls(DriveServices(login, api_url), login.kind, wait)
        self._listing: Listing | None = None

    def list(self, before: Before = NOTHING_BEFORE) -> Iterator[Listed]:
        """Yield every document there is, what is left out and why, what is gone, and a mark.

        Where `before` has a mark of the same wishes, Drive is asked for changes alone, unless
        folders are among them; else for everything.

        Raises:
            SourceError: It can't be listed; SourceUnavailableError where it may be in a while.
        """
        self._listing = Listing(
            self._calls,
            self._wanted,
            self._max_bytes,
            f"{self._wanted.fingerprint(self._max_bytes)}/{self._login.fingerprint()}",
            self._invite,
            before,
        )
        yield from self._listing.entries()

    def read(self, ref: DocumentRef) -> "Document":
        """Read a document that `list` has yielded.

        Returns:
            The document with, besides what `read_document` tells, its key, version (as read),
            location, title and modified_at (UTC, as `2026-11-21T10:00:00Z`), and what Drive tells:
            folder, owner, modified_by.

        Raises:
            UnreadableError: With the reason; UnreadableNowError where it may be read next time.
            SourceUnavailableError: Drive as a whole can't be reached now.
        """
        file = self._calls.readable_file(ref.key)
        if file.get("trashed"):
            raise UnreadableNowError("was put in the trash while the import was running")
        try:
            document = document_of(self._calls, file, self._max_bytes)
        except UnreadableError as error:
            raise type(error)(f"{file['name']} can't be read: {error}") from error
        tree = empty_tree(self._wanted) if self._listing is None else self._listing.tree
        path = tree.path(tree.above(file))
        document.metadata |= {
            "key": ref.key,
            "version": version_of(file, path),
            "location": link_of(file),
            "title": name_in_folder(file["name"], path[-1] if path else ""),
            **_details(file, path),
        }
        return document

    def connection(self) -> Connection:
        """Who is signed in, and which of the wanted parts that account sees.

        Raises:
            SourceError: The login is refused; SourceUnavailableError where Drive can't be reached.
        """
        return connect(self._calls, self._wanted, self._invite)

    @property
    def _invite(self) -> str:
        """What to do about what can't be seen."""
        if self._login.email:
            return f"share it with {self._login.email} as a viewer"
        return "have it shared with the person who signed in"


def _details(file: File, path: Path) -> dict[str, str]:
    """What is known of these; Drive tells owners of no file in a shared drive."""
    owners = [one.get("displayName", "") for one in file.get("owners", ())]
    told = {
        "modified_at": re.sub(r"\.\d+Z$", "Z", file.get("modifiedTime", "")),
        "folder": " / ".join(path),
        "owner": ", ".join(owners),
        "modified_by": file.get("lastModifyingUser", {}).get("displayName", ""),
    }
    return {name: value for name, value in told.items() if value}
