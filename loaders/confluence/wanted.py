"""What of a Confluence site is imported, and the query (CQL) that asks for it."""

import base64
import binascii
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from errors import SourceError

PAGE_TYPES = ("page", "blogpost")
_PAGE_ID = re.compile(r"^\s*(\d+)\s*$|[?&]pageId=(\d+)|/pages/(?:edit(?:-v2)?/)?(\d+)(?=[/?#]|$)")
_TINY = re.compile(r"/x/([A-Za-z0-9_-]+)")
_QUOTED = re.compile(r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'""")
_ORDER = re.compile(r"\border\s+by\b[^\"']*$", re.IGNORECASE)


class Scope(StrEnum):
    """By what pages are chosen."""

    EVERYTHING = "everything"
    SPACES = "spaces"
    TREES = "trees"
    LABELS = "labels"
    CQL = "cql"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is imported: the pages and blog posts of the scope, without those of `skip_labels`.

    `trees` are page ids, or addresses of pages; each means the page and all below it. Only what
    belongs to the scope is looked at: spaces' keys, labels, or a query of one's own.
    """

    scope: Scope = Scope.EVERYTHING
    spaces: tuple[str, ...] = ()
    trees: tuple[str, ...] = ()
    page_labels: tuple[str, ...] = ()
    cql: str = ""
    skip_labels: tuple[str, ...] = ()
    archived: bool = False
    attachments: bool = False
    comments: bool = False

    def pages_query(self, tree_ids: Sequence[str] = (), since: datetime | None = None) -> str:
        """The CQL of the pages; `tree_ids` are the ids that `trees` mean, `since` is in UTC.

        Raises:
            SourceError: What the scope asks for is missing.
        """
        clauses = [f"type in ({', '.join(PAGE_TYPES)})"]
        clauses += [clause] if (clause := self._scope_clause(tree_ids)) else []
        if self.skip_labels:
            clauses.append(f"label not in {_any_of(map(str.lower, self.skip_labels))}")
        return _query(clauses, since)

    def takes(self, content: Mapping[str, Any], tree_ids: Collection[str]) -> bool | None:
        """Whether a page belongs to it, as far as that shows without asking: None for a query.

        The content has its space, ancestors and labels.
        """
        labels = set(labels_of(content))
        if content.get("type") not in PAGE_TYPES or labels & set(map(str.lower, self.skip_labels)):
            return False
        if self.scope == Scope.SPACES:
            return space_of(content).lower() in map(str.lower, self.spaces)
        if self.scope == Scope.TREES:
            line = {content["id"], *(one["id"] for one in content.get("ancestors", ()))}
            return bool(line & set(tree_ids))
        if self.scope == Scope.LABELS:
            return bool(labels & set(map(str.lower, self.page_labels)))
        return None if self.scope == Scope.CQL else True

    def _scope_clause(self, tree_ids: Sequence[str]) -> str:
        if self.scope == Scope.EVERYTHING:
            return ""
        if self.scope == Scope.SPACES:
            return f"space in {_any_of(_filled(self.spaces, 'space'))}"
        if self.scope == Scope.LABELS:
            labels = _filled(self.page_labels, "label")
            return f"label in {_any_of(label.lower() for label in labels)}"
        if self.scope == Scope.TREES:
            ids = f"({', '.join(_filled(tree_ids, 'page'))})"
            return f"(id in {ids} or ancestor in {ids})"
        return f"({_closed(_without_order(_filled([self.cql.strip()], 'CQL query')[0]))})"


def parts_query(kind: str, spaces: Iterable[str], since: datetime | None = None) -> str:
    """The CQL of what hangs on the pages of these spaces: "attachment" or "comment"."""
    return _query([f"type = {kind}", f"space in {_any_of(spaces)}"], since)


def page_id_of(text: str) -> str | None:
    """The id of the page that an id or an address means; None where the address does not tell."""
    if found := _PAGE_ID.search(text):
        return str(next(filter(None, found.groups())))
    tiny = _TINY.search(text)
    return None if tiny is None else _untinied(tiny[1])


def labels_of(content: Mapping[str, Any]) -> list[str]:
    """The labels of a piece of content, sorted."""
    labels = ((content.get("metadata") or {}).get("labels") or {}).get("results") or ()
    return sorted({str(label.get("name", "")) for label in labels} - {""})


def space_of(content: Mapping[str, Any]) -> str:
    """The key of its space; empty where it is not told."""
    return str((content.get("space") or {}).get("key") or "")


def quoted(text: str) -> str:
    """A string of CQL that means exactly this text."""
    escaped = " ".join(text.split()).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _query(clauses: list[str], since: datetime | None) -> str:
    if since is not None:
        minute = since.astimezone(UTC).strftime("%Y-%m-%d %H:%M")
        clauses = [*clauses, f'lastmodified >= "{minute}"']
    # An order in which edits shift nothing: paging by offsets must neither skip nor repeat.
    return f"{' and '.join(clauses)} order by created"


def _any_of(values: Iterable[str]) -> str:
    return f"({', '.join(map(quoted, values))})"


def _filled(values: Sequence[str], what: str) -> Sequence[str]:
    if not any(values):
        raise SourceError(f"No {what} is named to be imported: fill it in, or import everything.")
    return [value for value in values if value]


def _without_order(cql: str) -> str:
    return _ORDER.sub("", cql).strip()


def _closed(cql: str) -> str:
    """The query, which must not end the brackets that it is put in: what follows would widen it."""
    depth = 0
    for bracket in re.findall(r"[()]", _QUOTED.sub("", cql)):
        depth += 1 if bracket == "(" else -1
        if depth < 0:
            break
    if depth:
        raise SourceError(f"The query (CQL) has a bracket without its other half: correct {cql}")
    return cql


def _untinied(text: str) -> str | None:
    """The id in a short address: its bytes from the lowest, in base 64, without trailing zeros."""
    standard = text.replace("-", "/").replace("_", "+")
    try:
        data = base64.b64decode(standard.ljust((len(standard) + 3) // 4 * 4, "A"))
    except binascii.Error:
        return None
    return str(int.from_bytes(data[:8], "little"))
