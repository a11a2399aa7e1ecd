"""The JSON of Confluence's REST API (v1), as Cloud or as Server / Data Center."""

import base64
import re
from datetime import UTC, datetime
from hashlib import md5
from typing import Any
from urllib.parse import quote, quote_plus, urlencode

from tests.fakes.confluence_content import Content, Space, Subjects
from tests.fakes.confluence_site import Site

BODIES = ("storage", "view", "export_view")
_RESTRICTIONS = ("restrictions.read.restrictions.user", "restrictions.read.restrictions.group")
EXPANDS = {
    "version",
    "ancestors",
    "space",
    "container",
    "history",
    "history.lastUpdated",
    "metadata",
    "metadata.labels",
    "body",
    *(f"body.{body}" for body in BODIES),
    *(f"body.{body}.value" for body in BODIES),
    *_RESTRICTIONS,
    *(f"ancestors.{one}" for one in _RESTRICTIONS),
    "restrictions.user",
    "restrictions.group",
}
LABELS_PER_ANSWER = 200


class Shapes:
    """The site as JSON: parts that were not requested are named in `_expandable`."""

    def __init__(self, site: Site, url: str, *, cloud: bool):
        self.site, self.url, self.cloud = site, url, cloud

    def content(self, content: Content, expand: frozenset[str]) -> dict[str, Any]:
        shape = self._summary(content)
        expandable = shape["_expandable"] = {}
        for name, build in self._parts(content, expand).items():
            if any(part == name or part.startswith(f"{name}.") for part in expand):
                shape[name] = build()
            else:
                expandable[name] = ""
        if content.type == "attachment":
            shape.setdefault("metadata", {})["mediaType"] = content.media_type
        shape["extensions"] = self._extensions(content)
        shape["_links"] = self._links(content)
        return shape

    def _summary(self, content: Content) -> dict[str, Any]:
        return {
            "id": content.id,
            "type": content.type,
            "status": content.status,
            "title": content.title,
        }

    def _parts(self, content: Content, expand: frozenset[str]) -> dict[str, Any]:
        parts = {
            "version": lambda: self._version(content),
            "space": lambda: self.space(content.space),
            "history": lambda: self._history(content, expand),
            "metadata": lambda: self._metadata(content, expand),
            "restrictions": lambda: self.restrictions(content),
            "body": lambda: self._body(content, expand),
        }
        if content.type in ("page", "comment"):
            parts["ancestors"] = lambda: [self._ancestor(a, expand) for a in content.ancestors()]
        if content.container:
            holder = self.site.contents[content.container]
            parts["container"] = lambda: self.content(holder, frozenset())
        return parts

    def _ancestor(self, content: Content, expand: frozenset[str]) -> dict[str, Any]:
        shape = self._summary(content) | {"_links": self._links(content)}
        if any(part.startswith("ancestors.restrictions") for part in expand):
            shape["restrictions"] = self.restrictions(content)
        return shape

    def _version(self, content: Content) -> dict[str, Any]:
        return {
            "by": self.user(content.editor),
            "when": self.when(content.modified),
            "message": "",
            "number": content.version,
            "minorEdit": False,
        }

    def _history(self, content: Content, expand: frozenset[str]) -> dict[str, Any]:
        history = {
            "latest": True,
            "createdBy": self.user(content.author),
            "createdDate": self.when(content.created),
            "_expandable": {"contributors": ""},
        }
        if "history.lastUpdated" in expand:
            return history | {"lastUpdated": self._version(content)}
        history["_expandable"]["lastUpdated"] = ""
        return history

    def _metadata(self, content: Content, expand: frozenset[str]) -> dict[str, Any]:
        if "metadata.labels" not in expand:
            return {"_expandable": {"labels": ""}}
        return {"labels": self.labels(content, 0, LABELS_PER_ANSWER), "_expandable": {}}

    def labels(self, content: Content, start: int, limit: int) -> dict[str, Any]:
        label_shapes = [self._label(name) for name in content.labels[start : start + limit]]
        return {"results": label_shapes, "start": start, "limit": limit, "size": len(label_shapes)}

    def _label(self, name: str) -> dict[str, str]:
        return {"prefix": "global", "name": name, "id": _digits(name), "label": name}

    def _body(self, content: Content, expand: frozenset[str]) -> dict[str, Any]:
        body: dict[str, Any] = {"_expandable": {}}
        for kind in BODIES:
            if content.has_body and {f"body.{kind}", f"body.{kind}.value"} & expand:
                body[kind] = {"value": content.storage, "representation": kind}
            else:
                body["_expandable"][kind] = ""
        return body

    def restrictions(self, content: Content) -> dict[str, Any]:
        """Users cannot see restrictions that exclude them."""
        return {
            "read": self.restriction("read", content.readers, 0, self.site.subjects_limit),
            "update": self.restriction("update", Subjects(), 0, self.site.subjects_limit),
        }

    def restriction(
        self, operation: str, subjects: Subjects, start: int, limit: int
    ) -> dict[str, Any]:
        """The restriction of one operation, with a page of its users and of its groups."""
        users = [self.user(name) for name in sorted(subjects.users)]
        groups = [self.group(name) for name in sorted(subjects.groups)]
        lists = {"user": users, "group": groups}
        pages = {kind: self._subjects(all_, start, limit) for kind, all_ in lists.items()}
        return {"operation": operation, "restrictions": pages}

    def _subjects(self, subjects: list[dict[str, Any]], start: int, limit: int) -> dict[str, Any]:
        page = subjects[start : start + limit]
        return {"results": page, "start": start, "limit": limit, "size": len(page)}

    def group(self, name: str) -> dict[str, Any]:
        id_ = {"id": _hex(name)} if self.cloud else {}
        return {"type": "group", "name": name, **id_, "_links": {}}

    def permitted_space(self, space: Space) -> dict[str, Any]:
        """Cloud's space with its permissions, which other accounts see as an empty list."""
        operations = [("read", "space"), ("create", "page")]
        permissions = [
            self._permission(kind, subject, *operation)
            for kind, subject in self._viewers(space)
            for operation in operations
        ]
        if space.is_public:
            permissions.append(self._permission("", {}, "read", "space"))
        return self.space(space) | {"permissions": permissions if space.shows_permissions else []}

    def _viewers(self, space: Space) -> list[tuple[str, dict[str, Any]]]:
        users = [("user", self.user(name)) for name in sorted(space.viewers.users)]
        return users + [("group", self.group(name)) for name in sorted(space.viewers.groups)]

    def _permission(
        self, kind: str, subject: dict[str, Any], operation: str, target: str
    ) -> dict[str, Any]:
        subjects = {"subjects": {kind: {"results": [subject], "size": 1}}} if kind else {}
        return {
            "id": _digits(f"{subject}{operation}"),
            **subjects,
            "operation": {"operation": operation, "targetType": target},
            "anonymousAccess": not kind,
            "unlicensedAccess": False,
        }

    def space_permissions(self, space: Space) -> list[dict[str, Any]]:
        """Data Center's list of permissions (9.1 and later); users have only a key."""
        users = [{"type": "user", "userKey": user_key(name)} for name in space.viewers.users]
        groups = [{"type": "group", "name": name} for name in space.viewers.groups]
        anonymous = [{"type": "anonymous"}] if space.is_public else []
        return [
            {
                "operation": {"targetType": target, "operationKey": operation},
                "subject": subject,
                "spaceKey": space.key,
                "spaceId": space.number,
            }
            for subject in [*users, *groups, *anonymous]
            for operation, target in (("read", "space"), ("create", "comment"))
        ]

    def _extensions(self, content: Content) -> dict[str, Any]:
        if content.type == "attachment":
            return {"mediaType": content.media_type, "fileSize": len(content.data), "comment": ""}
        return {"location": "footer"} if content.type == "comment" else {"position": "none"}

    def _links(self, content: Content) -> dict[str, str]:
        links = {
            "webui": self._webui(content),
            "self": f"{self.url}/rest/api/content/{content.id}",
        }
        if content.type == "attachment":
            stamp = int(content.modified.timestamp() * 1000)
            links["download"] = (
                f"/download/attachments/{content.container}/{quote(content.title)}"
                f"?version={content.version}&modificationDate={stamp}&cacheVersion=1&api=v2"
            )
        elif content.type != "comment":
            links["tinyui"] = f"/x/{_tiny(content.number)}"
        return links

    def _webui(self, content: Content) -> str:
        if content.container:
            if content.type == "attachment":
                name = f"/{content.container}/{content.number}/{content.title}"
                query = urlencode({"pageId": content.container, "preview": name})
                return f"/pages/viewpageattachments.action?{query}"
            page = self._webui(self.site.contents[content.container])
            return f"{page}{'&' if '?' in page else '?'}focusedCommentId={content.number}"
        key, day = content.space.key, f"{content.created:%Y/%m/%d}"
        if self.cloud:
            path = f"blog/{day}" if content.type == "blogpost" else "pages"
            return f"/spaces/{key}/{path}/{content.id}/{quote_plus(content.title)}"
        if re.fullmatch(r"[A-Za-z0-9 ._-]+", content.title) and content.status == "current":
            dated = f"{day}/" if content.type == "blogpost" else ""
            return f"/display/{key}/{dated}{quote_plus(content.title)}"
        return f"/pages/viewpage.action?pageId={content.id}"

    def space(self, space: Space) -> dict[str, Any]:
        home = f"/spaces/{space.key}" if self.cloud else f"/display/{space.key}"
        return {
            "id": space.number,
            "key": space.key,
            "name": space.name,
            "type": space.type,
            "status": "archived" if space.is_archived else "current",
            "_expandable": {"homepage": "", "description": "", "metadata": "", "icon": ""},
            "_links": {"webui": home, "self": f"{self.url}/rest/api/space/{space.key}"},
        }

    def user(self, name: str) -> dict[str, Any]:
        shape = {"type": "known", "displayName": self.site.users[name], "_expandable": {}}
        if self.cloud:
            email = self.site.emails.get(name, "")
            account = {"accountId": account_id(name), "accountType": "atlassian", "email": email}
            return shape | account | {"publicName": self.site.users[name]}
        return shape | {"username": name, "userKey": user_key(name)}

    def when(self, moment: datetime) -> str:
        """Cloud uses UTC, Server its own time zone with the offset."""
        if self.cloud:
            return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03}Z"
        return moment.astimezone(self.site.zone).isoformat(timespec="milliseconds")


def account_id(name: str) -> str:
    """Cloud's user id, such as 557058:0a1b..."""
    return f"557058:{_hex(name)}"


def user_key(name: str) -> str:
    """Server's permanent user id, independent of the name."""
    return f"ff80{_hex(name)[:28]}"


def _hex(text: str) -> str:
    return md5(text.encode(), usedforsecurity=False).hexdigest()


def _digits(text: str) -> str:
    return str(int(_hex(text)[:7], 16))


def _tiny(number: int) -> str:
    """A page id in a short URL: base 64 from the lowest byte, without trailing zeros."""
    text = base64.b64encode(number.to_bytes(8, "little")).decode().rstrip("=").rstrip("A")
    return text.replace("/", "-").replace("+", "_")
