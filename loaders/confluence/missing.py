"""Looks for documents that a listing no longer has: each is asked for by its id."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from domain import DocumentRef, Gone, Skipped
from errors import SourceError, SourceUnavailableError
from loaders.confluence.answers import ContentRefusedError
from loaders.confluence.documents import ATTACHED, ATTACHMENT_IDS, SHOWN, listed_file, location_of
from loaders.confluence.site import Site, SpaceState, container_id
from loaders.confluence.versions import ContentVersion, version_of
from loaders.confluence.wanted import Scope

_FEW = 100
_SAMPLE = 50

Found = DocumentRef | Skipped | Gone


@dataclass(frozen=True, slots=True)
class Missing:
    """Tells what became of missing documents.

    `trees` are the ids of the wanted trees' roots, `max_bytes` the limit of attachments.
    """

    site: Site
    trees: Collection[str]
    max_bytes: int

    def explained(
        self, missing: Mapping[str, DocumentRef], known: int, pages: Collection[str]
    ) -> Iterator[Found]:
        """Each as gone with the reason, as kept, or as still there after all.

        Where more than half of all `known` documents (and more than 100) are missing, 50 are
        asked for: a person has to confirm such a removal anyway. `pages` are the ids of what is
        there, which attachments may hang on.

        Raises:
            SourceUnavailableError: Confluence is not there now, or its search leaves out pages that
                are there.
        """
        unclear: dict[str, DocumentRef] = {}
        for key, ref in missing.items():
            found = self._without_asking_for_it(ref)
            if found is None:
                unclear[key] = ref
            else:
                yield found
        is_sample = len(unclear) > _FEW and len(unclear) * 2 > known
        for ref in islice(unclear.values(), _SAMPLE if is_sample else None):
            found = self._asked(ref, pages)
            if is_sample and isinstance(found, DocumentRef):
                raise SourceUnavailableError(_LEFT_OUT)
            yield found

    def _without_asking_for_it(self, ref: DocumentRef) -> Found | None:
        """What its space alone tells."""
        wanted, version = self.site.wanted, ContentVersion.parse(ref.version)
        if ref.key.startswith(ATTACHMENT_IDS) and not wanted.attachments:
            return Gone(ref.key, "attachments are no longer imported")
        if version is None or not version.space:
            return None
        if wanted.scope == Scope.SPACES and not _is_in(version.space, wanted.spaces):
            return Gone(ref.key, f"its space {version.space} is no longer imported")
        state = self.site.state_of(version.space)
        if state == SpaceState.HIDDEN:
            return Gone(ref.key, _hidden(version.space), is_certain=False)
        if state == SpaceState.ARCHIVED and not wanted.archived:
            return Gone(ref.key, f"its space {version.space} was archived; {_NOT_ARCHIVED}")
        return None

    def _asked(self, ref: DocumentRef, pages: Collection[str]) -> Found:
        is_file = ref.key.startswith(ATTACHMENT_IDS)
        try:
            content = self.site.content(ref.key, ATTACHED if is_file else SHOWN)
        except ContentRefusedError as error:
            if not error.is_of_content:
                return _unclear(ref, error)
            return Gone(ref.key, _refused(error.status))
        except SourceUnavailableError as error:
            if not self.site.client.answers():
                raise
            return _unclear(ref, error)
        reason = self._left_out(content, pages, is_file=is_file)
        if reason:
            return Gone(ref.key, reason)
        if is_file:
            return listed_file(self.site.client, content, self.max_bytes)
        return self._still_there(ref, content)

    def _left_out(
        self, content: Mapping[str, Any], pages: Collection[str], *, is_file: bool
    ) -> str:
        """Why what Confluence still has is not imported; "" where it is."""
        status = content.get("status") or "current"
        if status != "current" and not (status == "archived" and self.site.wanted.archived):
            return _STATES.get(status, f"its state is {status!r} now")
        return _without_page(content, pages) if is_file else self._not_wanted(content)

    def _not_wanted(self, content: Mapping[str, Any]) -> str:
        takes = self.site.wanted.takes(content, self.trees)
        if takes is None:
            return "the query no longer finds it"
        return "" if takes else "it was moved or labelled and is no longer among what is imported"

    def _still_there(self, ref: DocumentRef, content: Mapping[str, Any]) -> DocumentRef:
        """The search may lag behind edits, and paging skip what moves meanwhile."""
        before = ContentVersion.parse(ref.version)
        version = version_of(content, "" if before is None else before.comments)
        title = str(content.get("title") or "")
        return DocumentRef(ref.key, str(version), location_of(self.site.client, content), title)


_NOT_ARCHIVED = "archived pages are not imported"
_STATES = {
    "trashed": "it is in the trash",
    "archived": f"it was archived; {_NOT_ARCHIVED}",
    "deleted": "it was deleted",
    "draft": "it is a draft now",
}
_LEFT_OUT = (
    "Confluence's search leaves out pages that are there, perhaps while its index is rebuilt:"
    " nothing was changed. Try again later."
)


def _hidden(space: str) -> str:
    return f"its space {space} was deleted, or is hidden from this account"


def _refused(status: int) -> str:
    if status == 403:
        return "this account may not see it any more"
    return "it was deleted for good, or is hidden from this account"


def _unclear(ref: DocumentRef, error: SourceError) -> Skipped:
    reason = f"whether it is still there is not clear: {error}"
    return Skipped(ref.key, ref.location, reason, title=ref.title)


def _without_page(content: Mapping[str, Any], pages: Collection[str]) -> str:
    return "" if container_id(content) in pages else "its page is no longer imported"


def _is_in(space: str, spaces: Collection[str]) -> bool:
    return space.lower() in map(str.lower, spaces)
