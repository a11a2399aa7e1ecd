"""Google Drive as a kind of source."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from domain import Wait
from domain.errors import SourceError
from domain.messages import _, join_messages
from services.sources.remote_kind import RemoteKind, SignIn, joined
from services.sources.source_kinds import Field, FieldType, SourcePreview, items, lines, look
from storage.ledger.source_store import MIRROR_PERMISSIONS, mirrors_permissions

if TYPE_CHECKING:
    from loaders.google_drive.drive_calls import DriveCalls
    from loaders.google_drive.drive_login import DriveLogin
    from loaders.google_drive.drive_selection import DriveSelection
    from loaders.google_drive.google_drive_loader import GoogleDriveLoader

GOOGLE_DRIVE = "google_drive"
_SCOPES = ("folders", "files", "drives")


@dataclass(frozen=True)
class GoogleDriveKind(RemoteKind):
    """Folders with all subfolders, individual files, or shared drives that one account can see."""

    name = GOOGLE_DRIVE
    is_json = True
    fields = (
        Field("login", FieldType.CHOICE, options=("service_account", "oauth")),
        Field("scope", FieldType.CHOICE, fixed=True, options=_SCOPES),
        Field("service_account", required=True, secret=True, when={"login": ("service_account",)}),
        Field("oauth_token", required=True, secret=True, when={"login": ("oauth",)}),
        *(Field(name, FieldType.LINES, fixed=True, when={"scope": (name,)}) for name in _SCOPES),
        Field("types", FieldType.LINES),
        Field(MIRROR_PERMISSIONS, FieldType.SWITCH),
    )

    google_api_url: str
    """The base URL of Google's API, without the path of Drive."""

    @property
    def _api_url(self) -> str:
        return f"{self.google_api_url.rstrip('/')}/drive/v3/"

    def _normalize(self, options: Mapping[str, Any]) -> dict[str, Any]:
        types = [one.lstrip(".").lower() for one in items(lines(options, "types"))]
        _require_supported(types)
        normalized = {**options, "types": sorted(set(types))}
        scope = options["scope"]
        return {**normalized, scope: sorted(_selection({**normalized, scope: options[scope]}).ids)}

    def _location(self, options: Mapping[str, Any]) -> str:
        return f"Google Drive · {', '.join(options[options['scope']])}"

    def _loader(self, options: Mapping[str, Any], secret: str, wait: Wait) -> "GoogleDriveLoader":
        from loaders.google_drive.google_drive_loader import GoogleDriveLoader

        return GoogleDriveLoader(
            self._login(options, secret),
            _selection(options),
            wait,
            api_url=self._api_url,
            max_bytes=self.max_file_bytes,
            mirrors_permissions=mirrors_permissions(options),
        )

    def _sign_in(self, options: Mapping[str, Any], secret: str, wait: Wait) -> SignIn:
        connection = self._loader(options, secret, wait).connection()
        # An import can report individual missing files. If a folder is missing, however, hidden
        # documents can't be distinguished from removed ones.
        if connection.warnings and not (options["scope"] == "files" and connection.names):
            raise SourceError(join_messages(connection.warnings, " "))
        name = joined(connection.names)
        notes = (
            _("Signed in as {account}.").format(account=connection.account),
            _("Visible to this account: {name}.").format(name=name),
        )
        return SignIn(name, self._canonical(options, secret, wait), notes, connection.warnings)

    def _listing(self, options: Mapping[str, Any], secret: str, wait: Wait) -> SourcePreview:
        hint = _("check that there are files, and that they are shared with the account")
        result = look(self._loader(options, secret, wait), self._location(options), hint)
        calls = self._calls(options, secret, wait)
        return replace(result, titles=tuple(str(calls.file(key)["name"]) for key in result.titles))

    def _canonical(self, options: Mapping[str, Any], secret: str, wait: Wait) -> Mapping[str, Any]:
        """The options with the id of the account's My Drive instead of its generic name."""
        from loaders.google_drive.drive_selection import MY_DRIVE

        if MY_DRIVE not in (ids := options[options["scope"]]):
            return options
        own = str(self._calls(options, secret, wait).file(MY_DRIVE)["id"])
        return {**options, options["scope"]: sorted({*ids, own} - {MY_DRIVE})}

    def _calls(self, options: Mapping[str, Any], secret: str, wait: Wait) -> "DriveCalls":
        from loaders.google_drive.drive_calls import DriveCalls

        return DriveCalls(self._login(options, secret), wait, self._api_url)

    def _login(self, options: Mapping[str, Any], secret: str) -> "DriveLogin":
        from loaders.google_drive.drive_login import DriveLogin

        login = DriveLogin.of(options["login"], secret)
        login.require_token_server(self._api_url)
        return login


def _selection(options: Mapping[str, Any]) -> "DriveSelection":
    from loaders.google_drive.drive_selection import DriveSelection

    ids = {name: options.get(name, ()) for name in _SCOPES}
    return DriveSelection.of(options["scope"], **ids, types=options["types"])


def _require_supported(types: Sequence[str]) -> None:
    from loaders.formats import SUFFIXES
    from loaders.google_drive.drive_selection import NATIVE

    supported = {*NATIVE.values(), *(suffix.lstrip(".") for suffix in SUFFIXES)}
    if unknown := [one for one in types if one not in supported]:
        raise SourceError(
            _("Footnote can't read files of type {unknown}: the types are {supported}.").format(
                unknown=", ".join(unknown), supported=", ".join(sorted(supported))
            )
        )
