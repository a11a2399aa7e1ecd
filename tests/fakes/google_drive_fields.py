"""Partial responses: the `fields` of Google's APIs, for the fields of the fake Drive."""

import re
from typing import Any

from tests.fakes.loopback import RefusedError

_PERSON = dict.fromkeys(("kind", "displayName", "emailAddress", "permissionId", "me"))
_PERMISSION = dict.fromkeys(
    (
        *("kind", "id", "type", "role", "emailAddress", "domain", "allowFileDiscovery", "deleted"),
        *("pendingOwner", "view", "displayName", "expirationTime"),
    )
)
FILE: dict[str, Any] = dict.fromkeys(
    (
        *("kind", "id", "name", "mimeType", "starred", "trashed", "explicitlyTrashed", "parents"),
        *("spaces", "version", "webViewLink", "createdTime", "modifiedTime", "shared"),
        *("ownedByMe", "driveId", "teamDriveId", "size", "md5Checksum", "sha256Checksum"),
        *("originalFilename", "fileExtension", "headRevisionId", "webContentLink"),
        "permissionIds",
    )
) | {
    "permissions": _PERMISSION,
    "capabilities": dict.fromkeys(("canDownload", "canCopy")),
    "owners": _PERSON,
    "lastModifyingUser": _PERSON,
    "shortcutDetails": dict.fromkeys(("targetId", "targetMimeType")),
}
DRIVE: dict[str, Any] = dict.fromkeys(("kind", "id", "name", "createdTime"))
KNOWN: dict[str, dict[str, Any]] = {
    "File": FILE,
    "FileList": dict.fromkeys(("kind", "incompleteSearch", "nextPageToken")) | {"files": FILE},
    "Change": dict.fromkeys(("kind", "changeType", "removed", "fileId", "driveId", "time"))
    | {"file": FILE, "drive": DRIVE},
    "Drive": DRIVE,
    "DriveList": dict.fromkeys(("kind", "nextPageToken")) | {"drives": DRIVE},
    "PermissionList": dict.fromkeys(("kind", "nextPageToken")) | {"permissions": _PERMISSION},
    "StartPageToken": dict.fromkeys(("kind", "startPageToken")),
    "About": {"kind": None, "user": _PERSON, "storageQuota": dict.fromkeys(("limit", "usage"))},
}
KNOWN["ChangeList"] = dict.fromkeys(("kind", "nextPageToken", "newStartPageToken")) | {
    "changes": KNOWN["Change"]
}
_FILE_DEFAULTS = "kind,id,name,mimeType,driveId,teamDriveId"
DEFAULT_FIELDS = {
    "File": _FILE_DEFAULTS,
    "FileList": f"kind,incompleteSearch,nextPageToken,files({_FILE_DEFAULTS})",
    "ChangeList": "kind,nextPageToken,newStartPageToken,changes(kind,changeType,removed,fileId,"
    f"driveId,time,file({_FILE_DEFAULTS}),drive(kind,id,name))",
    "Drive": "kind,id,name",
    "DriveList": "kind,nextPageToken,drives(kind,id,name)",
    "PermissionList": "kind,nextPageToken,permissions(kind,id,type,role)",
    "StartPageToken": "*",
}
"""The fields that are returned if a request names none."""

_TOKEN = re.compile(r"[A-Za-z0-9*]+|[(),/]")


def partial(schema: str, field_mask: str | None, value: dict[str, Any]) -> dict[str, Any]:
    """The requested part of a response.

    Raises:
        RefusedError: The mask is malformed or has an unknown field.
    """
    mask = DEFAULT_FIELDS[schema] if field_mask is None else field_mask
    return _pick(parse(mask, KNOWN[schema]), value)


def parse(mask: str, known: dict[str, Any]) -> dict[str, Any]:
    """The requested fields, each with its requested subfields; None for all."""
    tokens = _TOKEN.findall(mask)
    if "".join(tokens) != re.sub(r"\s", "", mask):
        raise RefusedError(f"Invalid field selection {mask}")
    fields = _list(tokens, known, mask)
    if tokens:
        raise RefusedError(f"Invalid field selection {mask}")
    return fields


def _list(tokens: list[str], known: dict[str, Any], mask: str) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    while True:
        name, within = _one(tokens, known, mask)
        if name == "*":
            fields |= dict.fromkeys(known)
        elif isinstance(fields.get(name), dict) and within is not None:
            fields[name] |= within
        else:
            fields[name] = within
        if not tokens or tokens[0] != ",":
            return fields
        tokens.pop(0)


def _one(tokens: list[str], known: dict[str, Any], mask: str) -> tuple[str, Any]:
    name = tokens.pop(0) if tokens else ""
    if name != "*" and name not in known:
        raise RefusedError(f"Invalid field selection {name or mask}")
    within = known.get(name)
    if not tokens or tokens[0] not in "(/":
        return name, None
    if within is None:
        raise RefusedError(f"Invalid field selection {name}: it has no fields")
    if tokens.pop(0) == "/":
        return name, dict([_one(tokens, within, mask)])
    fields = _list(tokens, within, mask)
    if not tokens or tokens.pop(0) != ")":
        raise RefusedError(f"Invalid field selection {mask}")
    return name, fields


def _pick(fields: dict[str, Any] | None, value: Any) -> Any:
    if fields is None:
        return value
    if isinstance(value, list):
        return [_pick(fields, one) for one in value]
    return {name: _pick(fields[name], value[name]) for name in value if name in fields}
