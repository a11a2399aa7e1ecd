"""Google Drive as a source: lists and reads its files, and tests the connection."""

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from domain import NEVER_IMPORTED, DocumentRef, ListingEntry, PreviousImport, Wait
from domain.errors import NothingToReadError, TemporarilyUnreadableError, UnreadableError
from domain.messages import _
from loaders.directory_loader import DEFAULT_MAX_BYTES
from loaders.document_reader import read_document
from loaders.formats.titles import name_in_folder
from loaders.google_drive.drive_calls import API_URL, DriveCalls, File
from loaders.google_drive.drive_errors import NotExportedError, NotVisibleError
from loaders.google_drive.drive_listing import Listing
from loaders.google_drive.drive_login import DriveLogin
from loaders.google_drive.drive_permissions import DrivePermissions
from loaders.google_drive.drive_selection import (
    DOCS,
    FOLDER,
    NATIVE,
    SHEETS,
    SHORTCUT,
    SLIDES,
    DriveScope,
    DriveSelection,
    file_name,
    link_of,
)
from loaders.google_drive.drive_walk import Path, empty_tree, version_of

if TYPE_CHECKING:
    from langchain_core.documents import Document


@dataclass(frozen=True, slots=True)
class Connection:
    """The result of a connection test.

    `account` is the name and email address of the signed-in user. `names` are the names of the
    selected folders, files, or shared drives that are visible to the account; `warnings` has a
    sentence for each other item: the problem, and what to do about it.
    """

    account: str
    names: tuple[str, ...]
    warnings: tuple[str, ...]


def connect(calls: DriveCalls, selection: DriveSelection, invite: str) -> Connection:
    """Sign in and check each of the selected items.

    Raises:
        SourceError: The login is rejected; SourceUnavailableError if Drive can't be reached.
    """
    user = calls.user()
    names, warnings = [], []
    for one in selection.ids:
        try:
            name, wrong = _check(calls, selection.scope, one)
        except NotVisibleError:
            wrong = _("{one} is not visible to this account: {invite}.").format(
                one=one, invite=invite
            )
        if wrong:
            warnings.append(wrong)
        else:
            names.append(name)
    account = f"{user.get('displayName', '')} ({user.get('emailAddress', '')})"
    return Connection(account, tuple(names), tuple(warnings))


def _check(calls: DriveCalls, scope: DriveScope, item_id: str) -> tuple[str, str]:
    """The name of a selected item, and its problem ("" if there is none)."""
    if scope is DriveScope.DRIVES:
        return calls.drive_name(item_id), ""
    file = calls.file(item_id)
    name, is_folder = file["name"], file["mimeType"] in {FOLDER, SHORTCUT}
    if file.get("trashed"):
        return name, _("{name} is in the trash of Google Drive: restore it.").format(name=name)
    if scope is DriveScope.FOLDERS and not is_folder:
        return name, _("{name} is a file: import it as a file, not as a folder.").format(name=name)
    if scope is DriveScope.FILES and file["mimeType"] == FOLDER:
        return name, _("{name} is a folder: import it as a folder, not as a file.").format(
            name=name
        )
    return name, ""


_OPEN = "application/vnd.openxmlformats-officedocument."
_DOWNLOADS = 3
_EMBEDDED = re.compile(r"^\[[^\]\n]+\]:\s*<?data:[^>\s]*>?[ \t]*$\n?", re.MULTILINE)
_IMAGE = re.compile(r"!\[([^\]\n]*)\]\[[^\]\n]*\]")
_HEADING = re.compile(r"#+ ")
Pages = Sequence[tuple[int, int]]


class Export(NamedTuple):
    """A format that Google exports; `warning` says what the format loses."""

    mime: str
    suffix: str
    warning: str = ""


EXPORTS = {
    DOCS: (
        Export("text/markdown", ".md"),
        Export("text/html", ".html"),
        Export(
            "text/plain",
            ".txt",
            _("too large for Google to export completely: imported without headings"),
        ),
    ),
    SHEETS: (
        Export(f"{_OPEN}spreadsheetml.sheet", ".xlsx"),
        Export(
            "text/csv",
            ".csv",
            _("too large for Google to export completely: only the first sheet was imported"),
        ),
    ),
    SLIDES: (
        Export(f"{_OPEN}presentationml.presentation", ".pptx"),
        Export(
            "text/plain",
            ".txt",
            _("too large for Google to export completely: imported without slide numbers"),
        ),
    ),
}
"""The formats to try in order; Google rejects exports larger than 10 MB."""


def document_of(calls: DriveCalls, file: File, max_bytes: int) -> "Document":
    """Read a file like `read_document`; documents of Google's editors are exported.

    Raises:
        UnreadableError: The file can't be read; the message gives the reason.
            TemporarilyUnreadableError if a retry may succeed, NothingToReadError if a Google
            document contains no text.
        SourceUnavailableError: Drive as a whole can't be reached now.
    """
    if file["mimeType"] not in NATIVE:
        data = _download(calls, file, max_bytes)
        return read_document(file_name(file["name"], file["mimeType"]), data)
    export, data = _export(calls, file)
    if export.suffix == ".md":
        data = without_pictures(data.decode("utf-8-sig", "replace")).encode()
        if not data.strip():
            raise NothingToReadError(_("0 characters: the document contains no text"))
    document = read_document(f"{file['name']}{export.suffix}", data)
    document.metadata |= {"format": NATIVE[file["mimeType"]], "encoding": None}
    if export.warning:
        document.metadata["warnings"] = [export.warning, *document.metadata["warnings"]]
    if file["mimeType"] == SLIDES:
        text, pages = number_slides(document.page_content, document.metadata["pages"])
        document.page_content, document.metadata["pages"] = text, pages
    return document


def _export(calls: DriveCalls, file: File) -> tuple[Export, bytes]:
    for export in EXPORTS[file["mimeType"]]:
        try:
            return export, calls.export(file["id"], export.mime)
        except NotExportedError as error:
            refused = error
    raise UnreadableError(
        _(
            "Google can't export it in any format ({refused}): split it into smaller documents"
        ).format(refused=refused)
    ) from refused


def _download(calls: DriveCalls, file: File, max_bytes: int) -> bytes:
    """The bytes of a file, downloaded again if they don't match Drive's checksum."""
    checksum = file.get("md5Checksum")
    if file.get("size") == "0":
        return b""
    for _unused in range(_DOWNLOADS):
        data = calls.download(file["id"], max_bytes)
        if not checksum or hashlib.md5(data, usedforsecurity=False).hexdigest() == checksum:
            return data
    raise TemporarilyUnreadableError(
        _("the download does not match the file in Google Drive: it is incomplete")
    )


def without_pictures(markdown: str) -> str:
    """Remove the pictures from Google's Markdown, which embeds them as text; keep their names.

    They appear as `![name][image1]`, and their bytes below as `[image1]: <data:image/png;...>`.
    """
    if not _EMBEDDED.search(markdown):
        return markdown
    return _IMAGE.sub(r"\1", _EMBEDDED.sub("", markdown))


def number_slides(text: str, pages: Pages) -> tuple[str, list[tuple[int, int]]]:
    """Add a heading `## Slide n` to each slide, combined with its title if it has one.

    `pages` pairs the start of each slide in the text with its number; the new text and pages are
    returned.
    """
    if not pages:  # a format without slides
        return text, []
    parts: list[str] = []
    starts: list[tuple[int, int]] = []
    length = 0
    for (start, number), (end, _next) in pairwise([*pages, (len(text), 0)]):
        starts.append((length, number))
        parts.append(_with_heading(number, text[start:end]))
        length += len(parts[-1])
    return "".join(parts), starts


def _with_heading(number: int, slide: str) -> str:
    head = _HEADING.match(slide)
    if head is None:
        return f"## Slide {number}\n\n{slide}"
    return f"## Slide {number}: {slide[head.end() :]}"


class GoogleDriveLoader:
    """Lists and reads the selected parts of a Drive.

    A key is a file's id; a version depends on the content, name, and folders of a file. So a file
    is read again if its text or path changes, but not if it was only viewed, shared, or moved to a
    folder with the same name.
    """

    reads_without_listing = False  # the version of a file includes its path in the listed folders

    def __init__(
        self,
        login: DriveLogin,
        selection: DriveSelection,
        wait: Wait,
        *,
        api_url: str = API_URL,
        max_bytes: int = DEFAULT_MAX_BYTES,
        mirrors_permissions: bool = False,
    ) -> None:
        """Create a loader; `max_bytes` limits each file, and `wait` is called before retries.

        With `mirrors_permissions`, documents have the restrictions of their files.
        """
        self._login = login
        self._selection = selection
        self._max_bytes = max_bytes
        self._mirrors_permissions = mirrors_permissions
        self._calls = DriveCalls(login, wait, api_url, with_permissions=mirrors_permissions)
        self._listing: Listing | None = None

    def list(self, previous: PreviousImport = NEVER_IMPORTED) -> Iterator[ListingEntry]:
        """Yield all documents, skipped and removed items (with reasons), and finally a cursor.

        If `previous` has a cursor for the same selection, only changes are requested, unless
        folders have changed; otherwise everything is listed.

        Raises:
            SourceError: The Drive can't be listed; SourceUnavailableError if it may work later.
        """
        self._listing = Listing(
            self._calls,
            self._selection,
            self._max_bytes,
            f"{self._selection.fingerprint(self._max_bytes)}/{self._login.fingerprint()}",
            self._invite,
            previous,
            DrivePermissions(self._calls) if self._mirrors_permissions else None,
        )
        yield from self._listing.entries()

    def read(self, ref: DocumentRef) -> "Document":
        """Read a document that `list` yielded.

        Returns:
            The document with the metadata of `read_document` and its key, version (as read),
            location, title, and modified_at (UTC, such as `2026-11-21T10:00:00Z`), as well as
            folder, owner, and modified_by if Drive reports them.

        Raises:
            UnreadableError: The document can't be read; the message gives the reason.
            TemporarilyUnreadableError: The next import may be able to read the document.
            SourceUnavailableError: Drive as a whole can't be reached now.
        """
        file = self._calls.readable_file(ref.key)
        if file.get("trashed"):
            raise TemporarilyUnreadableError(
                _("was moved to the trash while the import was running")
            )
        try:
            document = document_of(self._calls, file, self._max_bytes)
        except UnreadableError as error:
            raise type(error)(
                _("{name} can't be read: {error}").format(name=file["name"], error=error)
            ) from error
        tree = empty_tree(self._selection) if self._listing is None else self._listing.tree
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
        """Test the connection: who is signed in, and which selected items that account can see.

        Raises:
            SourceError: The login is rejected; SourceUnavailableError if Drive can't be reached.
        """
        return connect(self._calls, self._selection, self._invite)

    @property
    def _invite(self) -> str:
        """The advice to users about items that are not visible."""
        if self._login.email:
            return _("share it with {email} as a viewer").format(email=self._login.email)
        return _("ask its owner to share it with the account that signed in")


def _details(file: File, path: Path) -> dict[str, str]:
    """The known metadata; Drive reports no owners for files in shared drives."""
    owners = [one.get("displayName", "") for one in file.get("owners", ())]
    details = {
        "modified_at": re.sub(r"\.\d+Z$", "Z", file.get("modifiedTime", "")),
        "folder": " / ".join(path),
        "owner": ", ".join(owners),
        "modified_by": file.get("lastModifyingUser", {}).get("displayName", ""),
    }
    return {name: value for name, value in details.items() if value}
