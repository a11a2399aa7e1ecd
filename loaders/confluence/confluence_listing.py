"""One listing of a site, full or changes only, and explanations of missing documents."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime

from domain import DocumentRef, ListingEntry, PreviousImport, Removed, Skipped
from domain.errors import SourceError, SourceUnavailableError
from domain.messages import _
from loaders.confluence.confluence_content import (
    ATTACHMENT_FIELDS,
    ATTACHMENT_IDS,
    PAGE_FIELDS,
    Content,
    ContentVersion,
    digest_of_comments,
    listed_file,
    location_of,
    moment_of,
    number_of,
    version_of,
)
from loaders.confluence.confluence_permissions import RESTRICTION_FIELDS, ConfluencePermissions
from loaders.confluence.confluence_selection import Scope
from loaders.confluence.responses import ContentRefusedError
from loaders.confluence.site import Site, SpaceState, container_id

_FEW = 100
_SAMPLE = 50

MissingEntry = DocumentRef | Skipped | Removed

_STATES = {
    "trashed": _("it is in the trash"),
    "archived": _("it was archived; archived pages are not imported"),
    "deleted": _("it was deleted"),
    "draft": _("it is now a draft"),
}
_INCOMPLETE_SEARCH = _(
    "Confluence's search omits existing pages, perhaps because its index is being rebuilt:"
    " nothing was changed. Try again later."
)


def _removal_reason(status: int) -> str:
    if status == 403:
        return _("this account is no longer allowed to see it")
    return _("it was permanently deleted, or is hidden from this account")


def _unclear(ref: DocumentRef, error: SourceError) -> Skipped:
    reason = _("could not determine whether it still exists: {error}").format(error=error)
    return Skipped(ref.key, ref.location, reason, title=ref.title)


@dataclass(slots=True)
class Listing:
    """One listing in progress; it keeps only the keys of documents.

    `since` is the time after which changes are requested; None for everything. `newest` is
    updated to the latest change seen. Without `permissions`, documents have no restrictions.
    """

    site: Site
    previous: PreviousImport
    since: datetime | None
    max_bytes: int
    newest: datetime | None = None
    permissions: ConfluencePermissions | None = None
    _trees: tuple[str, ...] = ()
    _listed: set[str] = field(default_factory=set)
    _spaces: set[str] = field(default_factory=set)
    _comments: dict[str, str] | None = None

    def entries(self) -> Iterator[ListingEntry]:
        """List pages, then attachments, each followed by explanations of missing ones.

        Raises:
            SourceError: The site can't be listed completely.
        """
        for entry in self._entries():
            yield self._restricted(entry) if isinstance(entry, DocumentRef) else entry

    def _restricted(self, ref: DocumentRef) -> DocumentRef:
        if self.permissions is None:
            return replace(ref, restrictions=())
        return self.permissions.restrict(ref)

    def _entries(self) -> Iterator[ListingEntry]:
        self._trees = tuple(self.site.trees())
        whole = self.since is None
        yield from self._pages()
        yield from self._missing(files=False) if whole else self._list_unchanged(files=False)
        if self.site.selection.attachments:
            yield from self._attachments()
        yield from self._missing(files=True) if whole else self._list_unchanged(files=True)

    @property
    def _page_fields(self) -> str:
        return PAGE_FIELDS if self.permissions is None else f"{PAGE_FIELDS},{RESTRICTION_FIELDS}"

    def _pages(self) -> Iterator[DocumentRef]:
        """Yield the pages; with comments, list all pages first, as comments are listed by space."""
        listed_pages = self._list_pages()
        if self.site.selection.comments:
            pages = [*listed_pages]
            self._comments = self._digests_of_comments()
            listed_pages = iter(pages)
        for version, ref in listed_pages:
            yield replace(ref, version=str(self._with_comments(ref.key, version)))

    def _list_pages(self) -> Iterator[tuple[ContentVersion, DocumentRef]]:
        query = self.site.selection.pages_query(self._trees, self.since)
        for content in self.site.search(query, self._page_fields):
            if self._is_new(content):
                version = version_of(content)
                self._spaces.add(version.space)
                location = location_of(self.site.client, content)
                title = str(content.get("title") or "")
                yield version, DocumentRef(content["id"], "", location, title)

    def _digests_of_comments(self) -> dict[str, str]:
        """The digest of all comments by page id; all are listed, because they are few."""
        comments_by_page: dict[str, list[tuple[str, int]]] = defaultdict(list)
        for comment in self.site.parts("comment", self._all_spaces(), "container,version"):
            comments_by_page[container_id(comment)].append((comment["id"], number_of(comment)))
        return {page: digest_of_comments(comments) for page, comments in comments_by_page.items()}

    def _with_comments(self, key: str, version: ContentVersion) -> ContentVersion:
        """The version with the digest of the page's comments, if comments are imported."""
        comments = "" if self._comments is None else self._comments.get(key, "")
        return replace(version, comments=comments)

    def _attachments(self) -> Iterator[ListingEntry]:
        for content in self.site.parts(
            "attachment", self._all_spaces(), ATTACHMENT_FIELDS, self.since
        ):
            if container_id(content) in self._listed and self._is_new(content):
                yield listed_file(self.site.client, content, self.max_bytes)

    def _is_new(self, content: Content) -> bool:
        """Whether the content was not listed yet; edits during the listing may repeat a page."""
        key = content["id"]
        if key in self._listed:
            return False
        self._listed.add(key)
        if self.permissions is not None:
            self.permissions.note(content)
        moment = moment_of(content)
        if moment is not None and (self.newest is None or moment > self.newest):
            self.newest = moment
        return True

    def _all_spaces(self) -> set[str]:
        """The spaces of listed pages and, if only changes are listed, of previous documents."""
        spaces = set(self._spaces)
        if self.since is not None:
            versions = (
                ContentVersion.parse(ref.version) for ref in self.previous.documents.values()
            )
            spaces |= {version.space for version in versions if version is not None}
        return spaces - {""}

    def _missing(self, *, files: bool) -> Iterator[ListingEntry]:
        absent = [
            ref
            for key, ref in self.previous.documents.items()
            if key.startswith(ATTACHMENT_IDS) == files and key not in self._listed
        ]
        for entry in self._explain(absent):
            if isinstance(entry, DocumentRef):
                self._listed.add(entry.key)
            yield entry

    def _list_unchanged(self, *, files: bool) -> Iterator[ListingEntry]:
        """Yield documents without changes as they were before."""
        for key, ref in {**self.previous.documents, **self.previous.failed}.items():
            if key.startswith(ATTACHMENT_IDS) == files and key not in self._listed:
                self._listed.add(key)
                version = ContentVersion.parse(ref.version)
                if version is None:
                    # It could not be listed before.
                    yield from self._explain([ref])
                elif files or self._comments is None:
                    yield ref
                else:
                    yield replace(ref, version=str(self._with_comments(key, version)))

    def _explain(self, missing: Iterable[DocumentRef]) -> Iterator[MissingEntry]:
        """Yield each missing document as removed (with the reason), as unclear, or as existing.

        If more than half of all documents (and more than 100) are missing, only 50 are looked up,
        because a person has to confirm such a removal anyway.

        Raises:
            SourceUnavailableError: Confluence can't be reached now, or its search omits existing
                pages.
        """
        unclear: list[DocumentRef] = []
        for ref in missing:
            entry = self._explain_without_lookup(ref)
            if entry is None:
                unclear.append(ref)
            else:
                yield entry
        is_sample = len(unclear) > _FEW and len(unclear) * 2 > len(self.previous.documents)
        for ref in unclear[: _SAMPLE if is_sample else None]:
            entry = self._look_up(ref)
            if is_sample and isinstance(entry, DocumentRef):
                raise SourceUnavailableError(_INCOMPLETE_SEARCH)
            yield entry

    def _explain_without_lookup(self, ref: DocumentRef) -> MissingEntry | None:
        """The explanation that needs no request for the document itself, if there is one."""
        selection, version = self.site.selection, ContentVersion.parse(ref.version)
        if ref.key.startswith(ATTACHMENT_IDS) and not selection.attachments:
            return Removed(ref.key, _("attachments are no longer imported"))
        if version is None or not version.space:
            return None
        reason, space = "", version.space
        if selection.scope == Scope.SPACES and not selection.has_space(space):
            reason = _("its space {space} is no longer imported").format(space=space)
        elif (state := self.site.state_of(space)) == SpaceState.HIDDEN:
            reason = _("its space {space} was deleted, or is hidden from this account").format(
                space=space
            )
            return Removed(ref.key, reason, is_certain=False)
        elif state == SpaceState.ARCHIVED and not selection.archived:
            reason = _("its space {space} was archived; archived pages are not imported").format(
                space=space
            )
        return Removed(ref.key, reason) if reason else None

    def _look_up(self, ref: DocumentRef) -> MissingEntry:
        is_file = ref.key.startswith(ATTACHMENT_IDS)
        try:
            fields = ATTACHMENT_FIELDS if is_file else self._page_fields
            content = self.site.content(ref.key, fields)
        except ContentRefusedError as error:
            if not error.is_of_content:
                return _unclear(ref, error)
            return Removed(ref.key, _removal_reason(error.status))
        except SourceUnavailableError as error:
            if not self.site.client.answers():
                raise
            return _unclear(ref, error)
        reason = self._exclusion_reason(content, is_file=is_file)
        if reason:
            return Removed(ref.key, reason)
        if self.permissions is not None:
            self.permissions.note(content)
        if is_file:
            return listed_file(self.site.client, content, self.max_bytes)
        return self._still_there(ref, content)

    def _exclusion_reason(self, content: Content, *, is_file: bool) -> str:
        """Why existing content is not imported; "" if it is."""
        status = content.get("status") or "current"
        if status != "current" and not (status == "archived" and self.site.selection.archived):
            return _STATES.get(status, _("its status is now {status}").format(status=repr(status)))
        if is_file:
            has_page = container_id(content) in self._listed
            return "" if has_page else _("its page is no longer imported")
        takes = self.site.selection.takes(content, self._trees)
        if takes is None:
            return _("it no longer matches the query")
        return "" if takes else _("it was moved or relabeled and is no longer in the selection")

    def _still_there(self, ref: DocumentRef, content: Content) -> DocumentRef:
        """The reference for existing content: the search may lag behind, or paging may skip it."""
        before = ContentVersion.parse(ref.version)
        version = version_of(content, "" if before is None else before.comments)
        title = str(content.get("title") or "")
        return DocumentRef(ref.key, str(version), location_of(self.site.client, content), title)
