"""Google Drive as a kind of source."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from domain import Wait
from errors import SourceError
from services.remote_kind import RemoteKind, SignedIn, joined
from services.secrets import SourceSecrets
from services.source_fields import Field, FieldType, items, lines
from services.source_kinds import Seen, look
from storage.sources import Sources

if TYPE_CHECKING:
    from loaders.google_drive.calls import DriveCalls
    from loaders.google_drive.files import DriveFiles
    from loaders.google_drive.login import DriveLogin
    from loaders.google_drive.wanted import DriveWanted

GOOGLE_DRIVE = "google_drive"
_SCOPES = ("folders", "files", "drives")


class GoogleDriveKind(RemoteKind):
    """Folders with all below them, single files, or shared drives, as one account sees them."""

    name = GOOGLE_DRIVE
    is_json = True
    fields = (
        Field("login", FieldType.CHOICE, options=("service_account", "oauth")),
        Field("scope", FieldType.CHOICE, fixed=True, options=_SCOPES),
        Field("service_account", required=True, secret=True, when={"login": ("service_account",)}),
        Field("oauth_token", required=True, secret=True, when={"login": ("oauth",)}),
        *(Field(name, FieldType.LINES, fixed=True, when={"scope": (name,)}) for name in _SCOPES),
        Field("types", FieldType.LINES),
    )

    def __init__(
        self, sources: Sources, secrets: SourceSecrets, max_file_bytes: int, api_url: str
    ) -> None:
        """Args are kept, nothing is opened.

        Args:
            sources: Where sources are kept.
            secrets: What they are read with.
            max_file_bytes: Larger files are skipped, with the reason.
            api_url: Google's API, without the path of Drive.
        """
        super().__init__(sources, secrets)
        self._max_file_bytes = max_file_bytes
        self._api_url = f"{api_url.rstrip('/')}/drive/v3/"

    def _tidied(self, options: Mapping[str, Any]) -> dict[str, Any]:
        types = [one.lstrip(".").lower() for one in items(lines(options, "types"))]
        _require_known(types)
        told = {**options, "types": sorted(set(types))}
        scope = options["scope"]
        return {**told, scope: sorted(_wanted({**told, scope: options[scope]}).ids)}

    def _location(self, options: Mapping[str, Any]) -> str:
        return f"Google Drive · {', '.join(options[options['scope']])}"

    def _loader(self, options: Mapping[str, Any], secret: str, wait: Wait) -> "DriveFiles":
        from loaders.google_drive.files import DriveFiles

        return DriveFiles(
            _login(options, secret),
            _wanted(options),
            wait,
            api_url=self._api_url,
            max_bytes=self._max_file_bytes,
        )

    def _signed_in(self, options: Mapping[str, Any], secret: str, wait: Wait) -> SignedIn:
        found = self._loader(options, secret, wait).connection()
        # An import tells of single files that are not there; of folders it could not tell what is
        # hidden from what is gone.
        if found.warnings and not (options["scope"] == "files" and found.seen):
            raise SourceError(" ".join(found.warnings))
        name = joined(found.seen)
        notes = (f"Signed in as {found.account}.", f"This account sees: {name}.")
        return SignedIn(name, self._spelled(options, secret, wait), notes, found.warnings)

    def _seen(self, options: Mapping[str, Any], secret: str, wait: Wait) -> Seen:
        hint = "check that there are files, and that they are shared with the account"
        seen = look(self._loader(options, secret, wait), self._location(options), hint)
        calls = self._calls(options, secret, wait)
        return replace(seen, titles=tuple(str(calls.file(key)["name"]) for key in seen.titles))

    def _spelled(self, options: Mapping[str, Any], secret: str, wait: Wait) -> Mapping[str, Any]:
        """The options with the id of the account's own Drive, which everybody calls the same."""
        from loaders.google_drive.wanted import MY_DRIVE

        if MY_DRIVE not in (ids := options[options["scope"]]):
            return options
        own = str(self._calls(options, secret, wait).file(MY_DRIVE)["id"])
        return {**options, options["scope"]: sorted({*ids, own} - {MY_DRIVE})}

    def _calls(self, options: Mapping[str, Any], secret: str, wait: Wait) -> "DriveCalls":
        from loaders.google_drive.calls import DriveCalls
        from loaders.google_drive.service import DriveServices

        login = _login(options, secret)
        return DriveCalls(DriveServices(login, self._api_url), login.kind, wait)


def _login(options: Mapping[str, Any], secret: str) -> "DriveLogin":
    from loaders.google_drive.login import DriveLogin

    return DriveLogin.of(options["login"], secret)


def _wanted(options: Mapping[str, Any]) -> "DriveWanted":
    from loaders.google_drive.wanted import DriveWanted

    named = {name: options.get(name, ()) for name in _SCOPES}
    return DriveWanted.of(options["scope"], **named, types=options["types"])


def _require_known(types: Sequence[str]) -> None:
    from loaders.formats import SUFFIXES
    from loaders.google_drive.kinds import NATIVE

    known = {*NATIVE.values(), *(suffix.lstrip(".") for suffix in SUFFIXES)}
    if unknown := [one for one in types if one not in known]:
        raise SourceError(
            f"Footnote reads no files of type {', '.join(unknown)}: the types are"
            f" {', '.join(sorted(known))}."
        )
