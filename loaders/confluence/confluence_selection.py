"""The part of a Confluence site to import, and the query (CQL) for it."""

import base64
import binascii
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from domain.errors import SourceError
from domain.messages import _
from loaders.confluence.confluence_content import labels_of, space_of

PAGE_TYPES = ("page", "blogpost")
_PAGE_ID = re.compile(r"^\s*(\d+)\s*$|[?&]pageId=(\d+)|/pages/(?:edit(?:-v2)?/)?(\d+)(?=[/?#]|$)")
_TINY = re.compile(r"/x/([A-Za-z0-9_-]+)")
_QUOTED = re.compile(r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'""")
_ORDER = re.compile(r"\border\s+by\b[^\"']*$", re.IGNORECASE)


class Scope(StrEnum):
    """How pages are selected."""

    EVERYTHING = "everything"
    SPACES = "spaces"
    TREES = "trees"
    LABELS = "labels"
    CQL = "cql"


@dataclass(frozen=True, slots=True)
class ConfluenceSelection:
    """Selects the pages and blog posts of the scope, except those with `skip_labels`.

    `trees` are ids or addresses of pages; each selects the page and all pages below it. Only the
    field for the scope is used, which must not be empty: `spaces` (keys), `trees`, `page_labels`,
    or `cql`.
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
        """The CQL for the pages; `tree_ids` are the page ids of `trees`, `since` is in UTC.

        Raises:
            SourceError: A bracket of `cql` is unmatched.
        """
        clauses = [f"type in ({', '.join(PAGE_TYPES)})"]
        clauses += [clause] if (clause := self._scope_clause(tree_ids)) else []
        if self.skip_labels:
            clauses.append(f"label not in {_any_of(map(str.lower, self.skip_labels))}")
        return _query(clauses, since)

    def takes(self, content: Mapping[str, Any], tree_ids: Collection[str]) -> bool | None:
        """Whether the selection includes a page; None for a CQL query, which only the site knows.

        The content must contain its space, ancestors, and labels.
        """
        labels = set(labels_of(content))
        if content.get("type") not in PAGE_TYPES or labels & set(map(str.lower, self.skip_labels)):
            return False
        if self.scope == Scope.SPACES:
            return self.has_space(space_of(content))
        if self.scope == Scope.TREES:
            line = {content["id"], *(one["id"] for one in content.get("ancestors", ()))}
            return bool(line & set(tree_ids))
        if self.scope == Scope.LABELS:
            return bool(labels & set(map(str.lower, self.page_labels)))
        return None if self.scope == Scope.CQL else True

    def has_space(self, space: str) -> bool:
        """Whether `spaces` has this key, regardless of case."""
        return space.lower() in map(str.lower, self.spaces)

    def _scope_clause(self, tree_ids: Sequence[str]) -> str:
        if self.scope == Scope.EVERYTHING:
            return ""
        if self.scope == Scope.SPACES:
            return f"space in {_any_of(self.spaces)}"
        if self.scope == Scope.LABELS:
            return f"label in {_any_of(label.lower() for label in self.page_labels)}"
        if self.scope == Scope.TREES:
            ids = f"({', '.join(tree_ids)})"
            return f"(id in {ids} or ancestor in {ids})"
        return f"({_check_brackets(_ORDER.sub('', self.cql).strip())})"


def parts_query(kind: str, spaces: Iterable[str], since: datetime | None = None) -> str:
    """The CQL for the parts of pages in these spaces; `kind` is "attachment" or "comment"."""
    return _query([f"type = {kind}", f"space in {_any_of(spaces)}"], since)


def page_id_of(text: str) -> str | None:
    """The page id in an id or an address; None if the address does not contain it."""
    if found := _PAGE_ID.search(text):
        return str(next(filter(None, found.groups())))
    tiny = _TINY.search(text)
    return None if tiny is None else _page_id(tiny[1])


def cql_string(text: str) -> str:
    """The text as a quoted CQL string."""
    escaped = " ".join(text.split()).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _query(clauses: list[str], since: datetime | None) -> str:
    if since is not None:
        minute = since.astimezone(UTC).strftime("%Y-%m-%d %H:%M")
        clauses = [*clauses, f'lastmodified >= "{minute}"']
    # An order that edits don't change: paging by offsets must neither skip nor repeat pages.
    return f"{' and '.join(clauses)} order by created"


def _any_of(values: Iterable[str]) -> str:
    return f"({', '.join(map(cql_string, values))})"


def _check_brackets(cql: str) -> str:
    """The query, which must not close our bracket around it: the rest would widen the selection."""
    depth = 0
    for bracket in re.findall(r"[()]", _QUOTED.sub("", cql)):
        depth += 1 if bracket == "(" else -1
        if depth < 0:
            break
    if depth:
        raise SourceError(
            _("The query (CQL) has an unmatched bracket: correct {cql}").format(cql=cql)
        )
    return cql


def _page_id(text: str) -> str | None:
    """The id in a short address: little-endian bytes in base64, without trailing zeros."""
    standard = text.replace("-", "/").replace("_", "+")
    try:
        data = base64.b64decode(standard.ljust((len(standard) + 3) // 4 * 4, "A"))
    except binascii.Error:
        return None
    return str(int.from_bytes(data[:8], "little"))
