"""The JSON of Confluence's REST API (v1), as Cloud or as Server / Data Center."""

import base64
import re
from datetime import UTC, datetime
from hashlib import md5
from typing import Any
from urllib.parse import quote, quote_plus, urlencode

from tests.fakes.confluence_content import Content, Space
from tests.fakes.confluence_site import Site

BODIES = ("storage", "view", "export_view")
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
    "restrictions.read.restrictions.user",
    "restrictions.read.restrictions.group",
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
            parts["ancestors"] = lambda: [self._ancestor(a) for a in content.ancestors()]
        if content.container:
            holder = self.site.contents[content.container]
            parts["container"] = lambda: self.content(holder, frozenset())
        return parts

    def _ancestor(self, content: Content) -> dict[str, Any]:
        return self._summary(content) | {"_links": self._links(content)}

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
        """Users cannot see restrictions that exclude them: visible ones are always empty."""
        no_subjects = {"results": [], "start": 0, "limit": 200, "size": 0}
        return {
            operation: {
                "operation": operation,
                "restrictions": {"user": no_subjects, "group": no_subjects},
            }
            for operation in ("read", "update")
        }

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
            account = {"accountId": account_id(name), "accountType": "atlassian", "email": ""}
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
