"""Confluence sites as a kind of source."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from domain import Wait
from domain.errors import SourceError
from domain.messages import _, join_messages
from domain.web.address_guard import AddressGuard
from services.imports.import_plan import Loader
from services.sources.remote_kind import RemoteKind, SignIn, joined
from services.sources.source_kinds import (
    TITLES,
    Field,
    FieldType,
    SourcePreview,
    items,
    look,
    required,
)
from storage.ledger.source_store import MIRROR_PERMISSIONS, mirrors_permissions

if TYPE_CHECKING:
    from loaders.confluence.client import ConfluenceClient
    from loaders.confluence.confluence_selection import ConfluenceSelection
    from loaders.confluence.site import Site

CONFLUENCE = "confluence"
_SPACES = 1000
_SHOWN = 8
_HINT = _("check the selection, and that the account can see it")


@dataclass(frozen=True)
class ConfluenceKind(RemoteKind):
    """Pages of one site, Cloud or Data Center, optionally with attachments and comments."""

    name = CONFLUENCE
    fields = (
        Field("login", FieldType.CHOICE, options=("cloud", "token", "basic")),
        Field(
            "scope",
            FieldType.CHOICE,
            fixed=True,
            options=("spaces", "trees", "labels", "cql", "everything"),
        ),
        Field("url", required=True, fixed=True),
        Field("email", required=True, when={"login": ("cloud",)}),
        Field("user", required=True, when={"login": ("basic",)}),
        Field("api_token", required=True, secret=True, when={"login": ("cloud",)}),
        Field("access_token", required=True, secret=True, when={"login": ("token",)}),
        Field("password", required=True, secret=True, when={"login": ("basic",)}),
        Field("spaces", FieldType.LINES, fixed=True, when={"scope": ("spaces",)}),
        Field("trees", FieldType.LINES, fixed=True, when={"scope": ("trees",)}),
        Field("page_labels", FieldType.LINES, fixed=True, when={"scope": ("labels",)}),
        Field("cql", required=True, fixed=True, when={"scope": ("cql",)}),
        Field("skip_labels", FieldType.LINES),
        Field("deletions", FieldType.CHOICE, options=("always", "daily")),
        Field("attachments", FieldType.SWITCH),
        Field("comments", FieldType.SWITCH),
        Field("archived", FieldType.SWITCH),
        Field(MIRROR_PERMISSIONS, FieldType.SWITCH),
    )

    guard: AddressGuard
    """Permits the addresses of sites."""

    def _normalize(self, options: Mapping[str, Any]) -> dict[str, Any]:
        from loaders.confluence.confluence_login import site_url

        url = site_url(required(options, "url", _("The address of the site")))
        normalized = {**options, "url": url, "skip_labels": items(options["skip_labels"])}
        for name, what in (("email", _("The email address")), ("user", _("The user name"))):
            if name in options:
                normalized[name] = required(options, name, what)
        for name in {"spaces", "trees", "page_labels"} & options.keys():
            normalized[name] = items(options[name])
        _require_scope(normalized)
        return normalized

    def _location(self, options: Mapping[str, Any]) -> str:
        return " · ".join(filter(None, (options["url"], _scope(options))))

    def _loader(self, options: Mapping[str, Any], secret: str, wait: Wait) -> Loader:
        from loaders.confluence.confluence_loader import ConfluenceLoader, Deletions

        return ConfluenceLoader(
            self._client(options, secret, wait),
            _selection(options),
            deletions=Deletions(options["deletions"]),
            mirrors_permissions=mirrors_permissions(options),
            max_bytes=self.max_file_bytes,
        )

    def _sign_in(self, options: Mapping[str, Any], secret: str, wait: Wait) -> SignIn:
        site = self._site(options, secret, wait)
        account = site.user()
        spaces = islice(site.spaces(), _SPACES)
        names = {str(space["key"]): str(space.get("name") or space["key"]) for space in spaces}
        notes = (_("Signed in as {account}.").format(account=account), _visible(list(names)))
        canonical = _canonical(site, options, names)
        return SignIn(
            _name(site, canonical, names), canonical, notes, _unseen_spaces(site, canonical, names)
        )

    def _listing(self, options: Mapping[str, Any], secret: str, wait: Wait) -> SourcePreview:
        result = look(self._loader(options, secret, wait), self._location(options), _HINT)
        return replace(result, titles=_titles(self._site(options, secret, wait)))

    def _site(self, options: Mapping[str, Any], secret: str, wait: Wait) -> "Site":
        from loaders.confluence.site import Site

        return Site(self._client(options, secret, wait), _selection(options))

    def _client(self, options: Mapping[str, Any], secret: str, wait: Wait) -> "ConfluenceClient":
        from loaders.confluence.client import ConfluenceClient
        from loaders.confluence.confluence_login import Login, LoginKind

        user = options.get("email") if options["login"] == "cloud" else options.get("user")
        login = Login(LoginKind(options["login"]), str(user or ""), secret)
        return ConfluenceClient(options["url"], login, wait, self.guard)


def _require_scope(options: Mapping[str, Any]) -> None:
    missing = {
        "spaces": _("Enter at least one space key, such as DOC."),
        "trees": _("Enter at least one page, by its address or number."),
        "page_labels": _("Enter at least one label."),
        "cql": _("The query (CQL) is missing: enter it."),
    }
    for name in missing.keys() & options.keys():
        if not options[name]:
            raise SourceError(missing[name])


def _scope(options: Mapping[str, Any]) -> str:
    """The selection in Confluence's own terms, which are not translated."""
    match options["scope"]:
        case "spaces":
            return ", ".join(options["spaces"])
        case "trees":
            return f"pageId={', '.join(options['trees'])}"
        case "labels":
            return ", ".join(f"#{label}" for label in options["page_labels"])
        case "cql":
            return str(options["cql"])
    return ""


def _selection(options: Mapping[str, Any]) -> "ConfluenceSelection":
    from loaders.confluence.confluence_selection import ConfluenceSelection, Scope

    return ConfluenceSelection(
        Scope(options["scope"]),
        spaces=tuple(options.get("spaces", ())),
        trees=tuple(options.get("trees", ())),
        page_labels=tuple(options.get("page_labels", ())),
        cql=options.get("cql", ""),
        skip_labels=tuple(options["skip_labels"]),
        archived=options["archived"],
        attachments=options["attachments"],
        comments=options["comments"],
    )


def _visible(keys: Sequence[str]) -> str:
    if not keys:
        return _("No space is visible to this account.")
    names = joined(keys, _SHOWN)
    return _("Visible spaces: {count} ({names}).").format(count=len(keys), names=names)


def _canonical(
    site: "Site", options: Mapping[str, Any], names: Mapping[str, str]
) -> Mapping[str, Any]:
    """The options with space keys as the site spells them, and with page ids."""
    if options["scope"] == "trees":
        return {**options, "trees": sorted({site.page_id(page) for page in options["trees"]})}
    if options["scope"] == "spaces":
        keys = {key.lower(): key for key in names}
        spaces = {keys.get(key.lower(), key) for key in options["spaces"]}
        return {**options, "spaces": sorted(spaces)}
    return options


def _unseen_spaces(
    site: "Site", options: Mapping[str, Any], names: Mapping[str, str]
) -> tuple[str, ...]:
    """Warnings about selected spaces that the account does not list.

    Raises:
        SourceError: The account sees none of the selected spaces.
    """
    from loaders.confluence.site import SpaceState

    others = [key for key in options.get("spaces", ()) if key not in names]
    states = {key: site.state_of(key) for key in others}
    hidden = [
        _(
            "The space {key} does not exist, or this account can't view it: check the key and"
            " the account's permissions."
        ).format(key=key)
        for key, state in states.items()
        if state is SpaceState.HIDDEN
    ]
    if hidden and len(hidden) == len(options["spaces"]):
        raise SourceError(join_messages(hidden, " "))
    archived = [
        _(
            "The space {key} is archived: its pages are imported only with “Include archived"
            " spaces”."
        ).format(key=key)
        for key, state in states.items()
        if state is SpaceState.ARCHIVED and not options["archived"]
    ]
    return (*hidden, *archived)


def _name(site: "Site", options: Mapping[str, Any], names: Mapping[str, str]) -> str:
    host = str(urlsplit(site.client.url).hostname)
    if options["scope"] == "spaces":
        return joined([names.get(key, key) for key in options["spaces"]])
    if options["scope"] == "trees":
        return joined([_title(site, page) for page in options["trees"]])
    if options["scope"] == "labels":
        return f"{joined(options['page_labels'])} ({host})"
    return host


def _title(site: "Site", page: str) -> str:
    from loaders.confluence.responses import ContentRefusedError

    try:
        return str(site.content(page, "version")["title"])
    except ContentRefusedError as error:
        raise SourceError(
            _(
                "The page {page} does not exist, or this account can't view it: check the"
                " address and the account's permissions."
            ).format(page=page)
        ) from error


def _titles(site: "Site") -> tuple[str, ...]:
    pages = site.search(site.selection.pages_query(site.trees()))
    return tuple(str(page["title"]) for page in islice(pages, TITLES))
