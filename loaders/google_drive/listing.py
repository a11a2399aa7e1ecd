"""One listing of a Drive: whole, or by what has changed since the last."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from domain import Before, DocumentRef, Gone, Listed, Mark, NewOptions, Skipped
from loaders.google_drive.calls import DriveCalls, File
from loaders.google_drive.changes import News, news_of
from loaders.google_drive.kinds import FOLDER, SHORTCUT, is_withheld, kind_of, link_of, too_large
from loaders.google_drive.tree import Tree, empty_tree, version_of
from loaders.google_drive.trouble import NotVisibleError, StaleTokenError
from loaders.google_drive.walk import Walk, not_visible
from loaders.google_drive.wanted import DriveWanted

NOT_VISIBLE = "deleted, or no longer shared with this account"
IN_TRASH = "in the trash of Google Drive"
MOVED_OUT = "moved out of what is imported"
_OTHER_TYPE = "of a type that is not imported"
_WITHHELD = "its owner does not let this account download it"


@dataclass(slots=True)
class Listing:
    """Compares what is there with what was `before`.

    `fingerprint` tells whether the mark is of the same wishes; `invite` what to do about what
    can't be seen. `tree` is where everything is, once `entries` has ended.
    """

    calls: DriveCalls
    wanted: DriveWanted
    max_bytes: int
    fingerprint: str
    invite: str
    before: Before
    tree: Tree = field(init=False)
    _tokens: dict[str, str] = field(default_factory=dict)
    _skipped: dict[str, tuple[str, str, bool, str]] = field(default_factory=dict)
    _told: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.tree = empty_tree(self.wanted)

    def entries(self) -> Iterator[Listed]:
        """All that is there, what is gone and why, and a mark at the end.

        Raises:
            SourceError: It can't be listed.
        """
        news = self._news()
        if news is None or news.is_of_folders(self.tree) or self._may_lead_on(news):
            yield from self._whole({} if news is None else news.files)
        else:
            yield from self._by_changes(news)
        told = {"of": self.fingerprint, "tokens": self._tokens, "skipped": self._skipped}
        yield Mark({**told, **self.tree.as_json()})

    def _news(self) -> News | None:
        """What has changed since the mark; None where that can't be told, or nobody knows."""
        mark = self.before.mark
        if mark.get("of") != self.fingerprint:
            return None
        try:
            news = news_of(self.calls, mark["tokens"])
        except StaleTokenError:
            return None
        self.tree = Tree.of_json(mark, self.tree.drives, self.tree.singles)
        return news

    def _may_lead_on(self, news: News) -> bool:
        """Whether a shortcut that led to nothing may lead to something: a folder above came."""
        waiting = self.tree.shortcuts.keys() & self.before.mark["skipped"].keys()
        return bool(waiting) and news.shows_folders()

    def _whole(self, changed: Mapping[str, File | None]) -> Iterator[Listed]:
        walk = Walk(self.calls, self.wanted, self.invite)
        self.tree = walk.tree
        for file in walk.files():
            if isinstance(file, Skipped):
                yield from self._noted(self._lost(file, NOT_VISIBLE) or file)
            else:
                yield from self._noted(self._entry(file))
        for key in self.before.documents:
            if key not in self._told:
                yield from self._noted(self._missing(key, changed))
        self._tokens = walk.tokens

    def _by_changes(self, news: News) -> Iterator[Listed]:
        self._tokens = news.tokens
        for key, file in news.files.items():
            if file is None or file["mimeType"] not in {FOLDER, SHORTCUT}:  # those are as before
                yield from self._noted(self._changed(key, file))
        for key, skipped in self.before.mark["skipped"].items():
            shortcut = self.tree.shortcuts.get(key)
            if (shortcut.target if shortcut else key) not in news.files:
                yield from self._noted(Skipped(key, *skipped))
        # What failed is told in the version that failed: an older one may be in the library.
        for key, ref in ({**self.before.documents, **self.before.failed}).items():
            if key not in news.files and key not in self._told:
                yield ref

    def _noted(self, entry: Listed | None) -> Iterator[Listed]:
        if entry is None or isinstance(entry, Mark | NewOptions):
            return
        self._told.add(entry.key)
        if isinstance(entry, Skipped):
            self._keep_in_mind(entry)
            if not entry.is_error and entry.key in self.before.documents:
                entry = Gone(entry.key, entry.reason)
        yield entry

    def _keep_in_mind(self, skipped: Skipped) -> None:
        """Let it be told by later listings too, which may not come to it."""
        told = (skipped.location, skipped.reason, skipped.is_error, skipped.title)
        self._skipped[skipped.key] = told

    def _missing(self, key: str, changed: Mapping[str, File | None]) -> Listed | None:
        """What became of a document that the whole listing has not come to."""
        if key in changed:  # it may be back since: only what then was gone is believed
            entry = self._changed(key, changed[key])
            if isinstance(entry, Gone):
                return entry
        try:
            return self._changed(key, self.calls.file(key))
        except NotVisibleError:
            return Gone(key, NOT_VISIBLE)

    def _changed(self, key: str, file: File | None) -> Listed | None:
        if file is None:
            return self._lost(not_visible(key, self.invite), NOT_VISIBLE)
        if file.get("trashed"):
            return self._lost(self._left_out(file, IN_TRASH), IN_TRASH)
        if self.tree.above(file) is None:
            return self._gone(key, MOVED_OUT)
        return self._entry(file)

    def _gone(self, key: str, reason: str) -> Gone | None:
        return Gone(key, reason) if key in self.before.documents else None

    def _lost(self, skipped: Skipped, reason: str) -> Listed | None:
        """What can't be had; where it was asked for by its id, later listings tell of it too."""
        if skipped.key not in self.tree.singles:
            return self._gone(skipped.key, reason)
        self._keep_in_mind(skipped)
        return self._gone(skipped.key, reason) or skipped

    def _entry(self, file: File) -> Listed | None:
        """A file that is among what is wanted; None where only its type is not."""
        key, name, link = file["id"], file["name"], link_of(file)
        kind = kind_of(name, file["mimeType"])
        if file.get("trashed"):
            return self._lost(self._left_out(file, IN_TRASH), IN_TRASH)
        if not self.wanted.takes(kind.type):
            return self._gone(key, _OTHER_TYPE)
        if kind.reason is not None:
            return self._left_out(file, kind.reason)
        if is_withheld(file):
            return self._left_out(file, _WITHHELD)
        if reason := too_large(file, self.max_bytes):
            return Skipped(key, link, reason, title=name)
        version = version_of(file, self.tree.path(self.tree.above(file)))
        return DocumentRef(key, version, link, name)

    def _left_out(self, file: File, reason: str) -> Skipped:
        return Skipped(file["id"], link_of(file), reason, is_error=False, title=file["name"])
