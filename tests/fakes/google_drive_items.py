"""Items of the fake Google Drive: folders, files, documents, shortcuts, and their viewers."""

import hashlib
import mimetypes
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

APP = "application/vnd.google-apps."
FOLDER, SHORTCUT = APP + "folder", APP + "shortcut"
DOCUMENT, SPREADSHEET, PRESENTATION = (
    APP + "document",
    APP + "spreadsheet",
    APP + "presentation",
)
_MORE_TYPES = {".md": "text/markdown", ".hwp": "application/x-hwp", ".hwpx": "application/hwp+zip"}
_LINKS = {
    DOCUMENT: "https://docs.google.com/document/d/{}/edit?usp=drivesdk",
    SPREADSHEET: "https://docs.google.com/spreadsheets/d/{}/edit?usp=drivesdk",
    PRESENTATION: "https://docs.google.com/presentation/d/{}/edit?usp=drivesdk",
    FOLDER: "https://drive.google.com/drive/folders/{}",
}


@dataclass(frozen=True)
class Doc:
    """A Google document, given by its Markdown export."""

    markdown: str


@dataclass(frozen=True)
class Sheet:
    """A Google spreadsheet: the rows of each sheet, by name."""

    sheets: dict[str, list[list[Any]]]


@dataclass(frozen=True)
class Slides:
    """A Google presentation: the text of each slide, with the title in the first line."""

    texts: list[str]


Content = bytes | Doc | Sheet | Slides | None
TYPES = {Doc: DOCUMENT, Sheet: SPREADSHEET, Slides: PRESENTATION}


def type_of(name: str, content: Content) -> str:
    """The MIME type of an upload with that name."""
    if not isinstance(content, bytes):
        return TYPES[type(content)]
    suffix = name[name.rfind(".") :].lower() if "." in name else ""
    return _MORE_TYPES.get(suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream"


@dataclass(frozen=True)
class Grant:
    """A permission for a group, a domain, or anyone (without address), or for a deleted user.

    `is_by_link`: only those who know the link can open the item.
    """

    type: str
    address: str = ""
    is_by_link: bool = False
    is_deleted: bool = False

    def resource(self) -> dict[str, Any]:
        id_ = hashlib.sha256(f"{self.type}{self.address}{self.is_by_link}".encode()).hexdigest()
        by_address = {"emailAddress": self.address, "deleted": self.is_deleted}
        rest = {
            "user": {**by_address, "pendingOwner": False},
            "group": by_address,
            "domain": {"domain": self.address, "allowFileDiscovery": not self.is_by_link},
            "anyone": {"allowFileDiscovery": not self.is_by_link},
        }
        head = {"kind": "drive#permission", "id": id_[:20], "type": self.type, "role": "reader"}
        return head | rest[self.type]


@dataclass(eq=False)
class Item:
    """Anything with an id. The roots of My Drive and of shared drives have no parents."""

    id: str
    name: str
    mime: str
    owner: str
    created: datetime
    modified: datetime
    parents: list["Item"] = field(default_factory=list)
    content: Content = None
    target: "Item | None" = None
    is_shared_drive: bool = False
    shared: set[str] = field(default_factory=set)
    """Accounts that can see it and all it contains; for a shared drive's root, its members."""

    grants: list[Grant] = field(default_factory=list)
    """Permissions for others than the accounts that the tests use."""

    editors: set[str] = field(default_factory=set)
    """Accounts that can share it and all it contains, and so see its permissions."""

    hides_permissions: bool = False
    explicitly_trashed: bool = False
    is_purged: bool = False
    can_download: bool = True
    version: int = 1

    @property
    def root(self) -> "Item":
        return self.parents[0].root if self.parents else self

    @property
    def drive(self) -> "Item | None":
        """The shared drive that contains it."""
        return self.root if self.root.is_shared_drive else None

    @property
    def trashed(self) -> bool:
        """Whether it, or every folder that contains it, is in the trash."""
        above = bool(self.parents) and all(parent.trashed for parent in self.parents)
        return self.explicitly_trashed or above

    @property
    def viewers(self) -> set[str]:
        if self.is_purged:
            return set()
        return self.shared.union(*(parent.viewers for parent in self.parents))

    @property
    def followers(self) -> set[str]:
        """Accounts whose log covers it; members of a shared drive read the drive's log."""
        if self.is_purged or self.is_shared_drive:
            return set()
        return self.shared.union(*(parent.followers for parent in self.parents))

    def permissions(self) -> list[dict[str, Any]]:
        """Its own permissions, and those of all that contain it."""
        own = [Grant("user", account).resource() for account in sorted(self.shared)]
        own += [grant.resource() for grant in self.grants]
        if self.drive is None and not self.parents:
            own.append(Grant("user", self.owner).resource())
        inherited = [one for parent in self.parents for one in parent.permissions()]
        return list({one["id"]: one for one in [*inherited, *own]}.values())

    def shows_permissions(self, account: str) -> bool:
        """Whether the account sees its permissions: it can share it, or is in its drive."""
        if self.hides_permissions:
            return False
        if self.drive is not None:
            return account in self.drive.shared
        is_editor = account in self.editors | {self.owner}
        return is_editor or any(parent.shows_permissions(account) for parent in self.parents)

    @property
    def md5(self) -> str | None:
        return hashlib.md5(self.content).hexdigest() if isinstance(self.content, bytes) else None

    def is_below(self, folder: "Item") -> bool:
        return self is folder or any(parent.is_below(folder) for parent in self.parents)

    def resource(self, account: str) -> dict[str, Any]:
        """The API resource as the account sees it, without invisible parents."""
        visible_parents = [parent.id for parent in self.parents if account in parent.viewers]
        resource_fields = {
            "kind": "drive#file",
            "id": self.id,
            "name": self.name,
            "mimeType": self.mime,
            "starred": False,
            "trashed": self.trashed,
            "explicitlyTrashed": self.explicitly_trashed,
            **({"parents": visible_parents} if visible_parents else {}),
            "spaces": ["drive"],
            "version": str(self.version),
            "webViewLink": _LINKS.get(
                self.mime, "https://drive.google.com/file/d/{}/view?usp=drivesdk"
            ).format(self.id),
            "createdTime": stamp(self.created),
            "modifiedTime": stamp(self.modified),
            "shared": len(self.viewers) > 1,
            "ownedByMe": self.drive is None and account == self.owner,
            "capabilities": {"canDownload": self.can_download, "canCopy": self.can_download},
        }
        fields = self._location_fields() | self._content_fields()
        return resource_fields | fields | self._permission_fields(account)

    def _permission_fields(self, account: str) -> dict[str, Any]:
        """Drive populates only the ids in shared drives."""
        if not self.shows_permissions(account):
            return {}
        permissions = self.permissions()
        ids = {"permissionIds": [one["id"] for one in permissions]}
        return ids if self.drive is not None else ids | {"permissions": permissions}

    def _location_fields(self) -> dict[str, Any]:
        if self.drive is not None:
            return {"driveId": self.drive.id, "teamDriveId": self.drive.id}
        return {"owners": [person(self.owner)], "lastModifyingUser": person(self.owner)}

    def _content_fields(self) -> dict[str, Any]:
        if self.target is not None:
            return {
                "shortcutDetails": {"targetId": self.target.id, "targetMimeType": self.target.mime}
            }
        if self.mime == FOLDER:
            return {}
        if not isinstance(self.content, bytes):
            return {"size": "1024"}
        return {
            "size": str(len(self.content)),
            "md5Checksum": self.md5,
            "sha256Checksum": hashlib.sha256(self.content).hexdigest(),
            "originalFilename": self.name,
            "fileExtension": self.name.rpartition(".")[2],
            "headRevisionId": f"0B{self.md5}",
            "webContentLink": f"https://drive.google.com/uc?id={self.id}&export=download",
        }


def person(account: str) -> dict[str, Any]:
    return {
        "kind": "drive#user",
        "displayName": account.partition("@")[0].title(),
        "emailAddress": account,
        "permissionId": hashlib.sha256(account.encode()).hexdigest()[:20],
    }


def stamp(moment: datetime) -> str:
    """Google's time format: UTC with milliseconds."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
