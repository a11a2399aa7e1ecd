"""Who may read pages: the permissions of spaces, and the restrictions of pages.

A person can read a page if they may view its space, and if they are in the restriction of the page
and in that of each page above it. Confluence does not count changes of permissions as edits, so
they are read at each listing: restrictions together with 200 pages each, permissions per space.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import quote

from domain import DocumentRef, email_reader, group_reader, user_reader
from domain.errors import SourceError
from domain.messages import _
from loaders.confluence.client import ConfluenceClient
from loaders.confluence.confluence_content import Content, space_of
from loaders.confluence.responses import ContentRefusedError

_READ = "restrictions.read.restrictions"
RESTRICTION_FIELDS = ",".join(
    f"{above}{_READ}.{kind}" for above in ("", "ancestors.") for kind in ("user", "group")
)
_KINDS = ("user", "group")
_AT_ONCE = 200
_REQUESTS = 100
"""The maximum number of requests for the restriction of one page."""

Readers = frozenset[str]
Restrictions = tuple[Readers, ...]


class UnknownPermissionsError(SourceError):
    """This account can't read who may read something; the message gives the reason."""


@dataclass(slots=True)
class Subjects:
    """Converts users and groups of a site to readers; each is requested only once."""

    client: ConfluenceClient
    _groups: dict[str, Readers] = field(default_factory=dict)
    _users: dict[str, Readers] = field(default_factory=dict)

    def readers(self, subjects: Mapping[str, Any]) -> Readers:
        """The readers for lists of users and groups, as restrictions and permissions have them."""
        readers = [_user_readers(one) for one in _results(subjects, "user")]
        readers += [self.group(str(one.get("name") or "")) for one in _results(subjects, "group")]
        return frozenset().union(*readers)

    def group(self, name: str) -> Readers:
        """A group and, on Data Center, the groups in it, at any depth."""
        if name and name not in self._groups:
            self._groups[name] = frozenset([group_reader(name)])  # groups may contain each other
            self._groups[name] = self._groups[name].union(*map(self.group, self._groups_in(name)))
        return self._groups.get(name, frozenset())

    def user_by_key(self, key: str) -> Readers:
        """The user with this key (Data Center); no reader if they can't be looked up."""
        if key not in self._users:
            try:
                self._users[key] = _user_readers(self.client.get("rest/api/user", {"key": key}))
            except ContentRefusedError:  # a person who left
                self._users[key] = frozenset()
        return self._users[key]

    def _groups_in(self, name: str) -> list[str]:
        """The groups directly in a group; none on Cloud and on versions without nested groups."""
        if self.client.is_cloud:
            return []
        path = f"rest/api/group/{quote(name, safe='')}/groupmember"
        try:
            groups = [*self.client.each(path, {"limit": _AT_ONCE}, identity="name")]
        except ContentRefusedError:
            return []
        return [str(one["name"]) for one in groups]


def _ancestors(page: Content) -> Sequence[Content]:
    """The pages above a page, whose restrictions also apply to it.

    Raises:
        UnknownPermissionsError: The response does not contain them.
    """
    ancestors = page.get("ancestors")
    if page.get("type") == "blogpost":  # there is nothing above it
        return ancestors or ()
    if not isinstance(ancestors, list):
        raise UnknownPermissionsError(_("Confluence did not return the pages above it"))
    return ancestors


@dataclass(slots=True)
class ConfluencePermissions:
    """The restrictions of the content of one listing."""

    client: ConfluenceClient
    subjects: Subjects
    _pages: dict[str, Restrictions | str] = field(default_factory=dict)
    """The restrictions of pages by id, or the reason why they are unknown."""

    _files: dict[str, str] = field(default_factory=dict)
    """The page of each attachment."""

    _spaces: dict[str, Restrictions | str] = field(default_factory=dict)

    def note(self, content: Content) -> None:
        """Remember the restrictions of a page, or the page of an attachment."""
        key, container = str(content["id"]), (content.get("container") or {}).get("id")
        if container:
            self._files[key] = str(container)
            return
        try:
            own = [self._restriction(one) for one in (*_ancestors(content), content)]
            self._pages[key] = (*self._of_space(space_of(content)), *filter(None, own))
        except UnknownPermissionsError as error:
            self._pages[key] = str(error)

    def restrict(self, ref: DocumentRef) -> DocumentRef:
        """The document with its restrictions; hidden if they are unknown."""
        restrictions = self._pages.get(self._files.get(ref.key, ref.key))
        if restrictions is None:
            return ref.hidden(_("its page was not listed, so its permissions are unknown"))
        if isinstance(restrictions, str):
            return ref.hidden(restrictions)
        return replace(ref, restrictions=restrictions)

    def _restriction(self, page: Content) -> Readers:
        """The readers to whom a page is restricted; empty if it has no restriction.

        Raises:
            UnknownPermissionsError: The response does not contain them.
        """
        try:
            subjects = page["restrictions"]["read"]["restrictions"]
            readers = self.subjects.readers(subjects)
            start = [len(subjects[kind]["results"]) for kind in _KINDS if _is_cut(subjects[kind])]
            more = self._rest(str(page["id"]), min(start)) if start else frozenset()
            if not readers | more and any(subjects[kind]["results"] for kind in _KINDS):
                raise UnknownPermissionsError(
                    _("its restriction names nobody who can be identified")
                )
        except (KeyError, TypeError) as error:
            raise UnknownPermissionsError(
                _("Confluence did not return the restrictions of the page or of a page above it")
            ) from error
        return readers | more

    def _rest(self, page_id: str, start: int) -> Readers:
        """The readers after the first ones, which the listing contains."""
        path = f"rest/api/content/{page_id}/restriction/byOperation/read"
        expand = ",".join(f"restrictions.{kind}" for kind in _KINDS)
        readers = frozenset[str]()
        for first in range(start, start + _REQUESTS * _AT_ONCE, _AT_ONCE):
            params = {"expand": expand, "start": first, "limit": _AT_ONCE}
            subjects = self.client.get(path, params)["restrictions"]
            readers |= self.subjects.readers(subjects)
            if not any(_is_cut(subjects[kind]) for kind in _KINDS):
                break
        return readers

    def _of_space(self, space: str) -> Restrictions:
        if space not in self._spaces:
            try:
                self._spaces[space] = self._permissions_of(space)
            except (ContentRefusedError, KeyError, TypeError) as error:
                self._spaces[space] = _unknown_space(space, error)
        restrictions = self._spaces[space]
        if isinstance(restrictions, str):
            raise UnknownPermissionsError(restrictions)
        return restrictions

    def _permissions_of(self, space: str) -> Restrictions:
        """The readers of a space; no restriction if anonymous visitors may view it.

        Raises:
            ContentRefusedError: This account may not read them.
            KeyError: The response does not contain them.
        """
        path = f"rest/api/space/{quote(space, safe='~')}"
        if self.client.is_cloud:
            permissions = self.client.get(path, {"expand": "permissions"})["permissions"]
            views = [one for one in permissions if _is_view(one["operation"], "operation")]
            is_public = any(one.get("anonymousAccess") for one in views)
            readers = [self.subjects.readers(one.get("subjects") or {}) for one in views]
        else:
            permissions = self.client.values(f"{path}/permissions")
            views = [one for one in permissions if _is_view(one["operation"], "operationKey")]
            is_public = any(_subject(one).get("type") == "anonymous" for one in views)
            readers = [self._of_subject(_subject(one)) for one in views]
        if not views:
            raise KeyError(space)
        return () if is_public else (frozenset[str]().union(*readers),)

    def _of_subject(self, subject: Mapping[str, Any]) -> Readers:
        if subject.get("type") == "group":
            return self.subjects.group(str(subject.get("name") or ""))
        key = subject.get("userKey")
        return self.subjects.user_by_key(str(key)) if key else frozenset()


def _subject(permission: Mapping[str, Any]) -> Mapping[str, Any]:
    return permission.get("subject") or {}


def _is_view(operation: Mapping[str, Any], name: str) -> bool:
    return (operation.get(name), operation.get("targetType")) == ("read", "space")


def _user_readers(user: Mapping[str, Any]) -> Readers:
    """A user by account id (Cloud) or name (Data Center), and by email address if it is visible."""
    id_, email = user.get("accountId") or user.get("username"), user.get("email")
    return frozenset(
        ([user_reader(str(id_))] if id_ else []) + ([email_reader(str(email))] if email else [])
    )


def _results(subjects: Mapping[str, Any], kind: str) -> list[Mapping[str, Any]]:
    return list((subjects.get(kind) or {}).get("results") or ())


def _is_cut(subjects: Mapping[str, Any]) -> bool:
    """Whether a list of users or groups may have more entries than the response."""
    limit = subjects.get("limit")
    return limit is not None and len(subjects["results"]) >= int(limit) > 0


def _unknown_space(space: str, error: Exception) -> str:
    reason = str(error) if isinstance(error, SourceError) else _("no permissions in the response")
    return _(
        "the permissions of the space {space} can't be read ({reason}): make this account an"
        " administrator of the space; Data Center must be version 9.1 or later"
    ).format(space=space, reason=reason)
