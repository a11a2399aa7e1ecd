"""Who may read files: their permissions in Drive.

A file has the permissions of the folders and of the shared drive that contain it, as well as its
own; a person needs one of them. Sharing by link makes a file readable to those who know its link,
but not findable, here as in Drive's own search.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from domain import DocumentRef, domain_reader, email_reader, group_reader
from domain.messages import _
from loaders.google_drive.drive_calls import DriveCalls, File
from loaders.google_drive.drive_errors import HiddenPermissionsError

_REFUSALS = 20
"""After this many refusals in a row in a shared drive, its other files are not requested."""

EVERYONE = "anyone"
"""The reader that stands for everyone."""

_STABLE = ("user", "group")
"""The types of permissions that mean the same on every file."""

Readers = frozenset[str]


@dataclass(slots=True)
class DrivePermissions:
    """The restrictions of the files of one listing.

    The listing contains the permissions of files in My Drive that this account may share. Files of
    shared drives have only the ids of their permissions; those of an unknown id are requested,
    which takes about one request per person or group rather than per file.
    """

    calls: DriveCalls
    _readers: dict[str, Readers] = field(default_factory=dict)
    """The readers by the id of a permission, which identifies a person or group everywhere.

    Other permissions have the same id on every file (`anyoneWithLink`) or domain, but their readers
    depend on whether the file can be found, so they are not remembered.
    """

    _refusals: Counter[str] = field(default_factory=Counter)

    def restrict(self, ref: DocumentRef, file: File) -> DocumentRef:
        """The document with its restriction; hidden if its permissions can't be read."""
        try:
            readers = self._readers_of(file)
        except HiddenPermissionsError as error:
            return ref.hidden(
                _(
                    "Google Drive does not show its permissions ({reason}): let this account edit"
                    " or manage the folder or shared drive"
                ).format(reason=str(error))
            )
        return replace(ref, restrictions=() if EVERYONE in readers else (readers,))

    def _readers_of(self, file: File) -> Readers:
        """The readers of a file.

        Raises:
            HiddenPermissionsError: This account may not see its permissions.
        """
        if "permissions" in file:
            return _union(map(_readers_of, file["permissions"]))
        if not file.get("driveId"):
            raise HiddenPermissionsError(_("this account may not share the file"))
        ids, drive_id = file.get("permissionIds") or (), str(file["driveId"])
        if ids and self._readers.keys() >= {*ids}:
            readers = [self._readers[one] for one in ids]
        else:
            readers = self._request(file["id"], drive_id)
        self._refusals[drive_id] = 0
        return _union(readers)

    def _request(self, file_id: str, drive_id: str) -> list[Readers]:
        """The readers for each permission of a file in a shared drive."""
        if self._refusals[drive_id] >= _REFUSALS:
            raise HiddenPermissionsError(_("like those of other files in its shared drive"))
        try:
            permissions = self.calls.permissions(file_id)
        except HiddenPermissionsError:
            self._refusals[drive_id] += 1
            raise
        self._readers |= {
            str(one["id"]): _readers_of(one) for one in permissions if one.get("type") in _STABLE
        }
        return list(map(_readers_of, permissions))


def _readers_of(permission: Mapping[str, Any]) -> Readers:
    """The reader of one permission; none if it only lets people read who know the link.

    Groups are named by their email address, because other names are not unique.
    """
    kind, address = permission.get("type"), str(permission.get("emailAddress") or "")
    if permission.get("deleted") or permission.get("view"):
        return frozenset()
    if kind == "user" and address:
        return frozenset([email_reader(address)])
    if kind == "group" and address:
        return frozenset([group_reader(address.lower())])
    if not permission.get("allowFileDiscovery"):
        return frozenset()
    if kind == "domain" and permission.get("domain"):
        return frozenset([domain_reader(str(permission["domain"]))])
    return frozenset([EVERYONE]) if kind == "anyone" else frozenset()


def _union(readers: Iterable[Readers]) -> Readers:
    return frozenset[str]().union(*readers)
