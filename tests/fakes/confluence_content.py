"""The content of a Confluence site."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, tzinfo

from tests.fakes.confluence_cql import parse
from tests.fakes.loopback import RefusedError

KIM = "kim"
CURRENT = frozenset({"current"})


@dataclass(frozen=True)
class Subjects:
    """Users and groups, by their names."""

    users: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()


@dataclass(eq=False)
class Space:
    number: int
    key: str
    name: str
    type: str = "global"
    is_archived: bool = False
    is_hidden: bool = False
    viewers: Subjects = Subjects()
    is_public: bool = False
    shows_permissions: bool = True


@dataclass(eq=False)
class Content:
    """A page, blog post, comment, or attachment; `status` is current, archived, or trashed.

    `is_restricted` hides it from the account; `readers` restrict it without hiding it.
    """

    site: "Contents"

    number: int
    type: str
    home: Space | None
    title: str
    storage: str
    parent: str | None
    container: str | None
    author: str
    created: datetime
    modified: datetime
    editor: str
    version: int = 1
    status: str = "current"
    labels: list[str] = field(default_factory=list)
    is_restricted: bool = False
    readers: Subjects = Subjects()
    has_body: bool = True
    data: bytes = b""
    media_type: str = ""

    @property
    def id(self) -> str:
        return f"att{self.number}" if self.type == "attachment" else str(self.number)

    @property
    def space(self) -> Space:
        return self.home or self.site.contents[self.container].space

    def ancestors(self) -> list["Content"]:
        """The root first, the parent last."""
        above, content = [], self
        while content.parent:
            content = self.site.contents[content.parent]
            above.append(content)
        return above[::-1]


@dataclass(frozen=True)
class Visible:
    """The fields of a page that an importer should have."""

    version: int
    title: str
    ancestors: tuple[str, ...]
    space: str
    text: str
    labels: tuple[str, ...]


class Contents:
    """Everything in a site, and what the account KIM can see of it.

    `now` returns the time, `zone` is the account's time zone. `sees_trash` tells whether the
    account can see trashed content; `revision` changes with every edit. `emails` are the visible
    addresses of users, `groups_in` the groups in a group. A response names at most
    `subjects_limit` users and groups of a restriction.
    """

    def __init__(self, now: Callable[[], datetime], zone: tzinfo):
        self.now, self.zone = now, zone
        self.spaces: dict[str, Space] = {}
        self.contents: dict[str, Content] = {}
        self.users = {KIM: "Kim Minji", "lee": "Lee Jun", "tanaka": "Tanaka Yui"}
        self.emails: dict[str, str] = {}
        self.groups_in: dict[str, tuple[str, ...]] = {}
        self.subjects_limit = 200
        self.sees_trash = True
        self.revision = 0
        self.lock = threading.RLock()
        self._search_results: dict[tuple, list[Content]] = {}
        self._cached_revision = -1

    def visible(self, *, archived: bool = False) -> dict[str, Visible]:
        """Current pages and blog posts that the account can see, by id."""
        with self.lock:
            return {
                content.id: self._visible_fields(content)
                for content in self.contents.values()
                if content.type in ("page", "blogpost")
                and self.is_listed(content, archived_spaces=archived)
            }

    def _visible_fields(self, content: Content) -> Visible:
        return Visible(
            content.version,
            content.title,
            tuple(above.title for above in content.ancestors()),
            content.space.key,
            content.storage,
            tuple(sorted(content.labels)),
        )

    def may_see(self, content: Content) -> bool:
        """Whether the account can see it, in any status; restrictions are inherited."""
        holder = self.contents[content.container] if content.container else None
        if content.space.is_hidden or (content.status == "trashed" and not self.sees_trash):
            return False
        if content.is_restricted or any(above.is_restricted for above in content.ancestors()):
            return False
        return holder is None or (self.may_see(holder) and holder.status != "trashed")

    def is_listed(self, content: Content, statuses=CURRENT, archived_spaces: bool = False) -> bool:
        """Whether searches and listings return it to the account."""
        if content.status not in statuses or (content.space.is_archived and not archived_spaces):
            return False
        holder = self.contents[content.container] if content.container else content
        return holder.status in statuses and self.may_see(content)

    def find(self, cql: str, statuses: frozenset[str], archived: bool) -> list[Content]:
        """The search results in order.

        Cached until the next edit or minute, so that each result page does not search again.
        """
        now = self.now()
        if self._cached_revision != self.revision:
            self._search_results, self._cached_revision = {}, self.revision
        key = (cql, statuses, archived, now.replace(second=0, microsecond=0), self.zone)
        if key not in self._search_results:
            query = parse(cql, now, self.zone)
            items = (c for c in self.contents.values() if self.is_listed(c, statuses, archived))
            self._search_results[key] = query.sort(
                [content for content in items if query.keep(content)]
            )
        return self._search_results[key]

    def inside(self, page: str, type: str) -> list[Content]:
        """Comments (including replies) or attachments of a page, oldest first."""
        return [c for c in self.contents.values() if c.container == page and c.type == type]

    def below(self, id: str) -> list[Content]:
        """All descendants of a page."""
        top = self.contents[id]
        return [content for content in self.contents.values() if top in content.ancestors()]

    def children(self, content: Content, kind: str, at_any_depth: bool) -> list[Content]:
        """Child pages, attachments, or comments; replies are at any depth."""
        if kind not in ("page", "attachment", "comment"):
            raise RefusedError(f"there is no child {kind!r}")
        contents = self.inside(content.id, kind)
        if kind == "page":
            contents = [child for child in self.contents.values() if child.parent == content.id]
        if kind == "comment" and not at_any_depth:
            contents = [comment for comment in contents if not comment.parent]
        return [child for child in contents if self.is_listed(child, archived_spaces=True)]
