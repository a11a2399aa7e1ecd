"""Confluence sites as a kind of source."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from domain import Wait
from errors import SourceError
from services.import_run import Loader
from services.remote_kind import RemoteKind, SignedIn, joined
from services.secrets import SourceSecrets
from services.source_fields import Field, FieldType, items, required
from services.source_kinds import TITLES, Seen, look
from storage.sources import Sources

if TYPE_CHECKING:
    from loaders.confluence.client import ConfluenceClient
    from loaders.confluence.site import Site
    from loaders.confluence.wanted import Wanted

CONFLUENCE = "confluence"
_SPACES = 1000
_SHOWN = 8
_HINT = "check what is to be imported, and that the account may see it"


class ConfluenceKind(RemoteKind):
    """Pages of one site, Cloud or Data Center, with attachments and comments if wanted."""

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
    )

    def __init__(self, sources: Sources, secrets: SourceSecrets, max_file_bytes: int) -> None:
        """Args are kept, nothing is opened: larger attachments are skipped, with the reason."""
        super().__init__(sources, secrets)
        self._max_file_bytes = max_file_bytes

    def _tidied(self, options: Mapping[str, Any]) -> dict[str, Any]:
        from loaders.confluence.login import site_url

        url = site_url(required(options, "url", "The address of the site"))
        tidied = {**options, "url": url, "skip_labels": items(options["skip_labels"])}
        for name, what in (("email", "The e-mail address"), ("user", "The user name")):
            if name in options:
                tidied[name] = required(options, name, what)
        for name in {"spaces", "trees", "page_labels"} & options.keys():
            tidied[name] = items(options[name])
        _require_scope(tidied)
        return tidied

    def _location(self, options: Mapping[str, Any]) -> str:
        return " · ".join(filter(None, (options["url"], _scope(options))))

    def _loader(self, options: Mapping[str, Any], secret: str, wait: Wait) -> Loader:
        from loaders.confluence.pages import ConfluencePages, Deletions

        return ConfluencePages(
            _client(options, secret, wait),
            _wanted(options),
            deletions=Deletions(options["deletions"]),
            max_bytes=self._max_file_bytes,
        )

    def _signed_in(self, options: Mapping[str, Any], secret: str, wait: Wait) -> SignedIn:
        site = _site(options, secret, wait)
        who = site.user()
        found = islice(site.spaces(), _SPACES)
        names = {str(space["key"]): str(space.get("name") or space["key"]) for space in found}
        notes = (f"Signed in as {who}.", _visible(list(names)))
        told = _spelled(site, options, names)
        return SignedIn(_name(site, told, names), told, notes, _unseen(site, told, names))

    def _seen(self, options: Mapping[str, Any], secret: str, wait: Wait) -> Seen:
        seen = look(self._loader(options, secret, wait), self._location(options), _HINT)
        return replace(seen, titles=_titles(_site(options, secret, wait)))


def _require_scope(options: Mapping[str, Any]) -> None:
    missing = {
        "spaces": "Name at least one space by its key, such as DOC.",
        "trees": "Name at least one page, by its address or number.",
        "page_labels": "Name at least one label.",
        "cql": "The query (CQL) is missing: fill it in.",
    }
    for name in missing.keys() & options.keys():
        if not options[name]:
            raise SourceError(missing[name])


def _scope(options: Mapping[str, Any]) -> str:
    """What of the site, in Confluence's own words: the same in every language."""
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


def _client(options: Mapping[str, Any], secret: str, wait: Wait) -> "ConfluenceClient":
    from loaders.confluence.client import ConfluenceClient
    from loaders.confluence.login import Login, LoginKind

    user = options.get("email") if options["login"] == "cloud" else options.get("user")
    login = Login(LoginKind(options["login"]), str(user or ""), secret)
    return ConfluenceClient(options["url"], login, wait)


def _site(options: Mapping[str, Any], secret: str, wait: Wait) -> "Site":
    from loaders.confluence.site import Site

    return Site(_client(options, secret, wait), _wanted(options))


def _wanted(options: Mapping[str, Any]) -> "Wanted":
    from loaders.confluence.wanted import Scope, Wanted

    return Wanted(
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
        return "No space is visible to this account."
    shown = ", ".join(keys[:_SHOWN]) + (", …" if len(keys) > _SHOWN else "")
    return f"Visible spaces: {len(keys)} ({shown})."


def _spelled(
    site: "Site", options: Mapping[str, Any], names: Mapping[str, str]
) -> Mapping[str, Any]:
    """The options with spaces' keys as the site spells them, and pages by their ids."""
    if options["scope"] == "trees":
        return {**options, "trees": sorted({site.page_id(page) for page in options["trees"]})}
    if options["scope"] == "spaces":
        keys = {key.lower(): key for key in names}
        told = {keys.get(key.lower(), key) for key in options["spaces"]}
        return {**options, "spaces": sorted(told)}
    return options


def _unseen(site: "Site", options: Mapping[str, Any], names: Mapping[str, str]) -> tuple[str, ...]:
    """What is to be known of the wanted spaces that are not among those listed.

    Raises:
        SourceError: This account sees none of the wanted ones.
    """
    from loaders.confluence.site import SpaceState

    others = [key for key in options.get("spaces", ()) if key not in names]
    states = {key: site.state_of(key) for key in others}
    hidden = [
        f"The space {key} is not there, or this account may not view it: check its key and the"
        " account's rights."
        for key, state in states.items()
        if state is SpaceState.HIDDEN
    ]
    if hidden and len(hidden) == len(options["spaces"]):
        raise SourceError(" ".join(hidden))
    archived = [
        f"The space {key} is archived: its pages are imported only with “Archived spaces too”."
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
    from loaders.confluence.answers import ContentRefusedError

    try:
        return str(site.content(page, "version")["title"])
    except ContentRefusedError as error:
        raise SourceError(
            f"The page {page} is not there, or this account may not view it: check its address and"
            " the account's rights."
        ) from error


def _titles(site: "Site") -> tuple[str, ...]:
    found = site.search(site.wanted.pages_query(site.trees()))
    return tuple(str(page["title"]) for page in islice(found, TITLES))
