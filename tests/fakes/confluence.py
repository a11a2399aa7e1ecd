"""A strict Confluence on loopback: an editable site (`Site`), served as Cloud or Server.

Paths, parameters, and shapes are those of REST API v1. An unknown request gets a 400 that names
it, and is recorded in `refused`.
"""

from collections.abc import Callable
from datetime import UTC, datetime, tzinfo
from typing import Any
from urllib.parse import unquote, urlencode

from tests.fakes.confluence_content import KIM, Content, Space
from tests.fakes.confluence_params import Params, basic, cursor, error, no_content
from tests.fakes.confluence_shapes import Shapes, account_id, user_key
from tests.fakes.confluence_site import Site
from tests.fakes.loopback import LOGIN_PAGE, Answer, Loopback, RefusedError, Request, json_answer

EMAIL, API_TOKEN = "kim@example.com", "api-token-of-kim"
ACCESS_TOKEN, PASSWORD = "access-token-of-kim", "password-of-kim"
HTML = "text/html; charset=utf-8"
TYPES = ("page", "blogpost")


class FakeConfluence(Site, Loopback):
    """Serves on loopback inside a `with` block; `url` is the URL that a user would enter.

    Cloud: Basic EMAIL and API_TOKEN, `/wiki`, result pages by cursor. Server: Bearer
    ACCESS_TOKEN or Basic KIM and PASSWORD, `context` (such as "/confluence"), result pages by
    start. CQL dates are in the account's time zone, `zone`.
    """

    def __init__(
        self,
        *,
        cloud: bool,
        context: str = "",
        now: Callable[[], datetime] | None = None,
        zone: tzinfo = UTC,
    ):
        Loopback.__init__(self)
        Site.__init__(self, now, zone)
        self.cloud, self.context = cloud, "/wiki" if cloud else context
        self.repeats_cursor = False
        """Whether every page of results names itself as the next."""
        self.denies_access = False
        """Whether the account is signed in, but may not use Confluence (403)."""

    @property
    def url(self) -> str:
        return self.origin + self.context

    @property
    def shapes(self) -> Shapes:
        return Shapes(self, self.url, cloud=self.cloud)

    def count(self, part: str) -> int:
        """Number of requests with this text in the path, including faulty ones."""
        return sum(part in request.path for request in self.requests)

    def answer(self, request: Request) -> Answer:
        inside = request.path.removeprefix(self.context)
        if self.cloud and request.path.startswith("/media/"):
            return self._bytes(self.contents[request.path.removeprefix("/media/")])
        if not inside.startswith(("/rest/", "/download/")) or not request.path.startswith(
            self.context
        ):
            missing = "/rest/" in request.path
            return Answer(404 if missing else 200, LOGIN_PAGE, HTML)
        if not self._is_known(request.headers.get("authorization", "")):
            return self._unauthorized()
        if self.denies_access:
            return error(403, "User is not permitted to use Confluence")
        if request.method != "GET":
            raise RefusedError("the fake is read-only")
        return self._route(inside.strip("/").split("/"), Params(inside, request.params))

    # Authentication

    def _is_known(self, authorization: str) -> bool:
        if self.cloud:
            return authorization == basic(EMAIL, API_TOKEN)
        return authorization in (f"Bearer {ACCESS_TOKEN}", basic(KIM, PASSWORD))

    def _unauthorized(self) -> Answer:
        if self.cloud:
            return error(401, "Unauthorized")
        page = b"<html><head><title>Unauthorized (401)</title></head><body>Basic Authentication "
        return Answer(401, page + b"Failure - Reason : AUTHENTICATED_FAILED</body></html>", HTML)

    # Routes

    def _route(self, path: list[str], params: Params) -> Answer:
        match path:
            case ["rest", "api", "content", "search"]:
                answer = self._search(params)
            case ["rest", "api", "content"]:
                answer = self._listing(params)
            case ["rest", "api", "content", id]:
                answer = self._content(id, params)
            case ["rest", "api", "content", id, *part]:
                answer = self._part(id, part, params)
            case ["rest", "api", "space"]:
                answer = self._spaces(params)
            case ["rest", "api", "space", key]:
                answer = self._space(key, params)
            case ["rest", "api", "space", key, "permissions"] if not self.cloud:
                answer = self._space_permissions(key)
            case ["rest", "api", "group", name, "groupmember"] if not self.cloud:
                answer = self._groups_in(name, params)
            case ["rest", "api", "user", *rest] if rest in ([], ["current"]):
                answer = self._user(bool(rest), params)
            case ["download", "attachments", id, name]:
                answer = self._download(id, name, params)
            case _:
                raise RefusedError("there is no such path")
        params.all_used()
        return answer

    def _search(self, params: Params) -> Answer:
        cql, statuses = params.text("cql"), params.searched_statuses()
        archived = params.flag("includeArchivedSpaces")
        start = params.place(cql) if self.cloud else params.number("start", 0)
        query = params.present("cql", "cqlcontext", "includeArchivedSpaces")
        return self._page(self.find(cql, statuses, archived), params, start, query)

    def _listing(self, params: Params) -> Answer:
        """The classic listing, with start and limit on Cloud too."""
        query = params.present("spaceKey", "title", "type", "status")
        space, title = query.get("spaceKey"), query.get("title")
        kind, statuses = query.get("type", "page"), params.statuses()
        if kind not in TYPES:
            raise RefusedError(f"there is no type {kind!r} to list")
        if space is not None and not self._sees_space(space):
            return error(404, f"No space found with key : {space}")
        results = [
            content
            for content in self.contents.values()
            if content.type == kind
            and self.is_listed(content, statuses, archived_spaces=space is not None)
            and space in (None, content.space.key)
            and title in (None, content.title)
        ]
        return self._page(results, params, params.number("start", 0), query)

    def _content(self, id: str, params: Params) -> Answer:
        statuses, expand = params.statuses(), params.expand()
        content = self.contents.get(id)
        if content is None or not self.may_see(content) or content.status not in statuses:
            return no_content(id)
        return json_answer(200, self.shapes.content(content, expand))

    def _part(self, id: str, part: list[str], params: Params) -> Answer:
        content = self.contents.get(id)
        if content is None or not self.may_see(content) or content.status == "trashed":
            return no_content(id)
        match part:
            case ["restriction", "byOperation"]:
                params.expand()
                return json_answer(200, self.shapes.restrictions(content))
            case ["restriction", "byOperation", "read"]:
                params.expand()
                start, limit = params.number("start", 0), params.limit()
                return json_answer(
                    200, self.shapes.restriction("read", content.readers, start, limit)
                )
            case ["label"]:
                start, limit = params.number("start", 0), params.limit()
                return json_answer(200, self.shapes.labels(content, start, limit))
            case ["child", kind]:
                query = params.present("depth")
                params.present("id")  # atlassian-python-api sends it twice
                results = self.children(content, kind, query.get("depth") == "all")
                return self._page(results, params, params.number("start", 0), query)
        raise RefusedError("there is no such path")

    def _spaces(self, params: Params) -> Answer:
        query = params.present("type", "status", "spaceKey")
        spaces = [space for space in self.spaces.values() if self._lists_space(space, query)]
        start, limit = params.number("start", 0), params.limit()
        shapes = [self.shapes.space(space) for space in spaces[start : start + limit]]
        next_query = {**query, "start": start + limit} if start + limit < len(spaces) else None
        return self._envelope(params.path, shapes, start, limit, next_query)

    def _lists_space(self, space: Space, filters: dict[str, str]) -> bool:
        status = "archived" if space.is_archived else "current"
        attributes = {"type": space.type, "status": status, "spaceKey": space.key}
        return not space.is_hidden and all(attributes[name] == filters[name] for name in filters)

    def _space(self, key: str, params: Params) -> Answer:
        expand = params.text("expand", "")
        if expand and not (self.cloud and expand == "permissions"):
            raise RefusedError(f"can't expand {expand!r}")
        if not self._sees_space(key):
            return error(404, f"No space found with key : {key}")
        space = self.spaces[key]
        shape = self.shapes.permitted_space(space) if expand else self.shapes.space(space)
        return json_answer(200, shape)

    def _space_permissions(self, key: str) -> Answer:
        if not self._sees_space(key):
            return error(404, f"No space found with key : {key}")
        if not self.spaces[key].shows_permissions:
            return error(403, f"User is not permitted to administer the space {key}")
        return json_answer(200, self.shapes.space_permissions(self.spaces[key]))

    def _groups_in(self, name: str, params: Params) -> Answer:
        group, start, limit = unquote(name), params.number("start", 0), params.limit()
        groups = self.groups_in.get(group, ())
        shapes = [self.shapes.group(one) for one in groups[start : start + limit]]
        next_query = {"start": start + limit} if start + limit < len(groups) else None
        return self._envelope(params.path, shapes, start, limit, next_query)

    def _sees_space(self, key: str) -> bool:
        return key in self.spaces and not self.spaces[key].is_hidden

    def _user(self, is_current: bool, params: Params) -> Answer:
        if is_current:
            zone = {"timeZone": str(self.zone), "email": EMAIL} if self.cloud else {}
            return json_answer(200, self.shapes.user(KIM) | zone)
        names = {"accountId": account_id} if self.cloud else {"username": str, "key": user_key}
        criteria = params.present(*names)
        for name in self.users:
            if criteria and all(names[field](name) == value for field, value in criteria.items()):
                return json_answer(200, self.shapes.user(name))
        if not criteria:
            raise RefusedError(f"one of {sorted(names)} is needed")
        return error(404, f"No user found with {criteria}")

    def _download(self, id: str, name: str, params: Params) -> Answer:
        params.present("version", "modificationDate", "cacheVersion", "api", "download")
        for attachment in self.inside(id, "attachment"):
            if attachment.title == name and self.is_listed(attachment, archived_spaces=True):
                location = {"Location": f"{self.origin}/media/{attachment.id}"}
                return Answer(302, b"", HTML, location) if self.cloud else self._bytes(attachment)
        return Answer(404, b"<html><body>Page Not Found</body></html>", HTML)

    def _bytes(self, attachment: Content) -> Answer:
        return Answer(200, attachment.data, attachment.media_type)

    # Result pages

    def _page(
        self, contents: list[Content], params: Params, start: int, query: dict[str, str]
    ) -> Answer:
        expand, limit = params.expand(), params.limit()
        shapes = [self.shapes.content(each, expand) for each in contents[start : start + limit]]
        next_query = None
        if start + limit < len(contents) or self.repeats_cursor:
            place = start if self.repeats_cursor else start + limit
            next_query = {**query, **params.present("expand"), "start": place}
            if self.cloud and "cql" in query:
                next_query |= {"next": "true", "cursor": cursor(place, query["cql"])}
        return self._envelope(params.path, shapes, start, limit, next_query)

    def _envelope(
        self,
        path: str,
        results: list[dict[str, Any]],
        start: int,
        limit: int,
        next_query: dict[str, Any] | None,
    ) -> Answer:
        links = {"base": self.url, "context": self.context, "self": self.url + path}
        if next_query is not None:
            links["next"] = f"{path}?{urlencode(next_query | {'limit': limit})}"
        return json_answer(
            200,
            {
                "results": results,
                "start": start,
                "limit": limit,
                "size": len(results),
                "_links": links,
            },
        )
