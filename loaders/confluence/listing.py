"""One listing of a site: all that is there, or what has changed and what was there before."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from domain import Before, DocumentRef, Listed
from loaders.confluence.documents import (
    ATTACHED,
    ATTACHMENT_IDS,
    SHOWN,
    listed_file,
    location_of,
    moment_of,
)
from loaders.confluence.missing import Missing
from loaders.confluence.site import Site, container_id
from loaders.confluence.versions import (
    ContentVersion,
    digest_of_comments,
    number_of,
    version_of,
)

Content = Mapping[str, Any]


@dataclass(slots=True)
class Listing:
    """One listing, while it is under way. Of each document only its key is kept.

    `since` is the moment whose later changes are asked for; None for everything. `newest` becomes
    the latest change that was seen.
    """

    site: Site
    before: Before
    since: datetime | None
    max_bytes: int
    newest: datetime | None = None
    _trees: tuple[str, ...] = ()
    _listed: set[str] = field(default_factory=set)
    _spaces: set[str] = field(default_factory=set)
    _comments: dict[str, str] | None = None

    def entries(self) -> Iterator[Listed]:
        """Pages first, then attachments, each with what became of those that are missing.

        Raises:
            SourceError: The site can't be listed to its end.
        """
        self._trees = tuple(self.site.trees())
        whole = self.since is None
        yield from self._pages()
        yield from self._missing(files=False) if whole else self._unchanged(files=False)
        if self.site.wanted.attachments:
            yield from self._attachments()
        yield from self._missing(files=True) if whole else self._unchanged(files=True)

    def _pages(self) -> Iterator[DocumentRef]:
        """The pages as found; with comments once all are known, for those are listed by space."""
        found = self._found_pages()
        if self.site.wanted.comments:
            pages = [*found]
            self._comments = self._digests_of_comments()
            found = iter(pages)
        for version, ref in found:
            yield replace(ref, version=str(self._with_comments(ref.key, version)))

    def _found_pages(self) -> Iterator[tuple[ContentVersion, DocumentRef]]:
        query = self.site.wanted.pages_query(self._trees, self.since)
        for content in self.site.search(query, SHOWN):
            if self._is_new(content):
                version = version_of(content)
                self._spaces.add(version.space)
                location = location_of(self.site.client, content)
                title = str(content.get("title") or "")
                yield version, DocumentRef(content["id"], "", location, title)

    def _digests_of_comments(self) -> dict[str, str]:
        """By page id: of all comments, whatever the listing asks for, as they are few."""
        found: dict[str, list[tuple[str, int]]] = defaultdict(list)
        for comment in self.site.parts("comment", self._all_spaces(), "container,version"):
            found[container_id(comment)].append((comment["id"], number_of(comment)))
        return {page: digest_of_comments(comments) for page, comments in found.items()}

    def _with_comments(self, key: str, version: ContentVersion) -> ContentVersion:
        """The version with the comments that there are, if they are imported."""
        comments = "" if self._comments is None else self._comments.get(key, "")
        return replace(version, comments=comments)

    def _attachments(self) -> Iterator[Listed]:
        for content in self.site.parts("attachment", self._all_spaces(), ATTACHED, self.since):
            if container_id(content) in self._listed and self._is_new(content):
                yield listed_file(self.site.client, content, self.max_bytes)

    def _is_new(self, content: Content) -> bool:
        """Whether it was not listed yet; edits meanwhile may list a page twice."""
        key = content["id"]
        if key in self._listed:
            return False
        self._listed.add(key)
        moment = moment_of(content)
        if moment is not None and (self.newest is None or moment > self.newest):
            self.newest = moment
        return True

    def _all_spaces(self) -> set[str]:
        """Where there are pages: those listed now and, where only changes are, those before."""
        spaces = set(self._spaces)
        if self.since is not None:
            versions = (ContentVersion.parse(ref.version) for ref in self.before.documents.values())
            spaces |= {version.space for version in versions if version is not None}
        return spaces - {""}

    def _missing(self, *, files: bool) -> Iterator[Listed]:
        absent = {
            key: ref
            for key, ref in self.before.documents.items()
            if key.startswith(ATTACHMENT_IDS) == files and key not in self._listed
        }
        known = len(self.before.documents)
        for found in self._lookup().explained(absent, known, self._listed):
            if isinstance(found, DocumentRef):
                self._listed.add(found.key)
            yield found

    def _unchanged(self, *, files: bool) -> Iterator[Listed]:
        """What no change was listed of: as it was before, or failed before."""
        for key, ref in {**self.before.documents, **self.before.failed}.items():
            if key.startswith(ATTACHMENT_IDS) == files and key not in self._listed:
                self._listed.add(key)
                version = ContentVersion.parse(ref.version)
                if version is None:
                    yield from self._looked_up(ref)
                elif files or self._comments is None:
                    yield ref
                else:
                    yield replace(ref, version=str(self._with_comments(key, version)))

    def _looked_up(self, ref: DocumentRef) -> Iterator[Listed]:
        """What could not even be listed before, asked for by its id."""
        yield from self._lookup().explained({ref.key: ref}, 0, self._listed)

    def _lookup(self) -> Missing:
        return Missing(self.site, self._trees, self.max_bytes)
