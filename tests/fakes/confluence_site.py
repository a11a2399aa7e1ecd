"""An editable Confluence site: spaces, pages, comments, attachments, and permissions.

Where real sites differ, this one behaves in the way that is harder for an importer: a move, a
label, or a restriction changes neither the version nor the modification time of a page.
"""

from collections.abc import Callable
from datetime import UTC, datetime, tzinfo
from typing import Any

from tests.fakes.confluence_content import KIM, Content, Contents, Space, Subjects


class Site(Contents):
    """Edits by users; see `Contents` for their results."""

    def __init__(self, now: Callable[[], datetime] | None = None, zone: tzinfo = UTC):
        super().__init__(now or (lambda: datetime.now(UTC)), zone)
        self._last = 0
        self._titles: dict[tuple[str, str], Content] = {}

    # Spaces

    def add_space(self, key: str, name: str = "", type: str = "global") -> Space:
        with self._editing():
            space = Space(len(self.spaces) + 1, key, name or f"Space {key}", type)
            self.spaces[key] = space
            return space

    def archive_space(self, key: str, is_archived: bool = True) -> None:
        with self._editing():
            self.spaces[key].is_archived = is_archived

    def hide_space(self, key: str, is_hidden: bool = True) -> None:
        """Revoke the account's permission to see the space."""
        with self._editing():
            self.spaces[key].is_hidden = is_hidden

    def permit(
        self, key: str, *, users: tuple[str, ...] = (), groups: tuple[str, ...] = ()
    ) -> None:
        """Replace the people who may view the space."""
        with self._editing():
            self.spaces[key].viewers = Subjects(frozenset(users), frozenset(groups))

    def publish(self, key: str) -> None:
        """Let anonymous visitors view the space."""
        with self._editing():
            self.spaces[key].is_public = True

    def hide_permissions(self, key: str, is_hidden: bool = True) -> None:
        """Revoke the account's right to see who may view the space."""
        with self._editing():
            self.spaces[key].shows_permissions = not is_hidden

    def delete_space(self, key: str) -> None:
        with self._editing():
            for content in [c for c in self.contents.values() if c.home is self.spaces[key]]:
                self._remove(content)
            del self.spaces[key]

    # Pages

    def add(
        self,
        space: str,
        title: str,
        storage: str = "",
        parent: str | None = None,
        *,
        type: str = "page",
        labels: tuple[str, ...] = (),
        by: str = KIM,
    ) -> str:
        """Create a page (or type="blogpost"); returns its id. Titles are unique in a space."""
        with self._editing():
            self._check_title(space, title, type)
            home = self.spaces[space]
            if parent and self.contents[parent].space is not home:
                raise ValueError(f"Page {parent} is not in the space {space}")
            new = self._make(type, home, title, storage, by, parent=parent)
            new.labels.extend(labels)
            self._register_title(new)
            return new.id

    def edit(self, id: str, storage: str, *, by: str = KIM) -> None:
        """Change the text of a page, blog post, or comment."""
        with self._changing(id, by) as content:
            content.storage = storage

    def rename(self, id: str, title: str, *, by: str = KIM) -> None:
        self._check_title(self.contents[id].space.key, title, self.contents[id].type)
        with self._changing(id, by) as content:
            content.title = title
            self._register_title(content)

    def move(self, id: str, parent: str | None = None, *, space: str | None = None) -> None:
        """Move below another page, or to the root of a space, with all descendants."""
        with self._editing():
            content = self.contents[id]
            above = self.contents[parent] if parent else None
            home = above.space if above else self.spaces[space or content.space.key]
            if above and (above.status != "current" or content in [above, *above.ancestors()]):
                raise ValueError(f"Page {id} can't be moved under {parent}")
            moved = [content, *self.below(id)]
            for each in moved if home is not content.home else ():
                self._check_title(home.key, each.title, each.type)
            content.parent = parent
            for each in moved:
                each.home = home
                self._register_title(each)

    def trash(self, id: str) -> None:
        """Trash a page; its children move up to its parent."""
        self._set_inactive(id, "trashed")

    def archive(self, id: str) -> None:
        self._set_inactive(id, "archived")

    def restore(self, id: str) -> None:
        """Restore from the trash or archive, below the old parent if it still exists."""
        with self._editing():
            content = self.contents[id]
            parent = self.contents.get(content.parent or "")
            self._check_title(content.space.key, content.title, content.type)
            if not (parent and parent.status == "current" and parent.home is content.home):
                content.parent = None
            content.status = "current"
            self._register_title(content)

    def purge(self, id: str) -> None:
        """Delete permanently, with comments and attachments."""
        self.trash(id)
        with self._editing():
            self._remove(self.contents[id])

    def restrict(self, id: str, is_restricted: bool = True) -> None:
        """Hide the page and its descendants from the account; False undoes that."""
        with self._editing():
            self.contents[id].is_restricted = is_restricted

    def limit(self, id: str, *, users: tuple[str, ...] = (), groups: tuple[str, ...] = ()) -> None:
        """Restrict the page and its descendants to these people; without any, end that.

        The account still sees the page, as if it were one of them.
        """
        with self._editing():
            self.contents[id].readers = Subjects(frozenset(users), frozenset(groups))

    def label(self, id: str, *labels: str) -> None:
        with self._editing():
            existing = self.contents[id].labels
            existing.extend(label for label in labels if label not in existing)

    def unlabel(self, id: str, label: str) -> None:
        with self._editing():
            self.contents[id].labels.remove(label)

    def lose_body(self, id: str) -> None:
        """Return the page without a body, as broken pages are."""
        with self._editing():
            self.contents[id].has_body = False

    # Contents of a page

    def comment(
        self, page: str, storage: str, *, reply_to: str | None = None, by: str = KIM
    ) -> str:
        with self._editing():
            title = f"Re: {self.contents[page].title}"
            new = self._make("comment", None, title, storage, by, parent=reply_to, container=page)
            return new.id

    def attach(
        self, page: str, name: str, data: bytes, media_type: str = "text/plain", *, by: str = KIM
    ) -> str:
        """Add an attachment, or a new version of the one with that name; returns its id."""
        with self._editing():
            for attachment in self.inside(page, "attachment"):
                if attachment.title == name and attachment.status == "current":
                    with self._changing(attachment.id, by):
                        attachment.data, attachment.media_type = data, media_type
                    return attachment.id
            new = self._make("attachment", None, name, "", by, container=page)
            new.data, new.media_type = data, media_type
            return new.id

    # Edits

    def _editing(self) -> "_Edit":
        return _Edit(self)

    def _changing(self, id: str, by: str) -> "_Edit":
        return _Edit(self, self.contents[id], by)

    def _make(self, type, home, title, storage, by, *, parent=None, container=None) -> Content:
        self._last += 1
        number, now = 100_000 + self._last, self.now()
        new = Content(self, number, type, home, title, storage, parent, container, by, now, now, by)
        self.contents[new.id] = new
        return new

    def _check_title(self, space: str, title: str, type: str) -> None:
        existing = self._titles.get((space, title))
        if type != "page" or existing is None or existing.status != "current":
            return
        if existing.home is self.spaces[space] and existing.title == title:
            raise ValueError(f"There is a page {title!r} in the space {space}")

    def _register_title(self, content: Content) -> None:
        if content.type == "page" and content.status == "current":
            self._titles[content.space.key, content.title] = content

    def _set_inactive(self, id: str, status: str) -> None:
        with self._editing():
            content = self.contents[id]
            for child in self.contents.values():
                if child.parent == id and child.status == "current":
                    child.parent = content.parent
            content.status = status

    def _remove(self, content: Content) -> None:
        contents = list(self.contents.values())
        for content_below in [each for each in contents if each.container == content.id]:
            del self.contents[content_below.id]
        for child in self.contents.values():
            if child.parent == content.id:
                child.parent = None
        self._titles = {k: v for k, v in self._titles.items() if v is not content}
        self.contents.pop(content.id, None)


class _Edit:
    """Serialize edits; with a content, the edit creates a new version of it."""

    def __init__(self, site: Site, content: Content | None = None, by: str = ""):
        self.site, self.content, self.by = site, content, by

    def __enter__(self) -> Any:
        self.site.lock.acquire()
        return self.content

    def __exit__(self, kind, *exception: object) -> None:
        if kind is None:
            self.site.revision += 1
            if self.content is not None:
                self.content.version += 1
                self.content.modified, self.content.editor = self.site.now(), self.by
        self.site.lock.release()
