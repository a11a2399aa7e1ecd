"""`cli.py api-key`, `encryption-key`, and `google-login`: keys and tokens."""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer

from commands.console import (
    INTERRUPTED,
    NEW_KEY,
    AsJson,
    DataDir,
    command_line,
    minute_text,
    open_services,
    print_json,
    print_table,
    settings_from_options,
)
from domain import LOCAL_USER, ApiKey, ApiScope, Principal


def encryption_key(
    rotate: Annotated[
        bool, typer.Option(help="Encrypt all secrets again, with the first key")
    ] = False,
    replace_lost: Annotated[
        bool,
        typer.Option(help="With a ledger on PostgreSQL: use the first key, as its key is lost"),
    ] = False,
    data_dir: DataDir = None,
) -> None:
    """Print a new key for FOOTNOTE_ENCRYPTION_KEY, or for encryption.key in the data folder.

    Neither is required: storing the first secret creates a key in that file. Keys of the setting
    precede those of the file. To change keys, put the new one before the old one, separated by a
    comma, and run `python cli.py encryption-key --rotate`; then remove the old one.
    """
    if rotate and replace_lost:
        raise typer.BadParameter("--rotate and --replace-lost cannot be combined")
    if replace_lost:
        from bootstrap import replace_lost_key  # slow, and a new key does not need it

        replace_lost_key(settings_from_options(data_dir))
        typer.echo("The library now uses this key. Enter the secrets of sources and models again.")
        return
    if not rotate:
        from services.sources.secret_service import new_key

        typer.echo(new_key())
        return
    with open_services(data_dir, warn=False) as services:
        n = services.source_secrets.rotate() + services.settings.rotate()
    typer.echo(f"Secrets encrypted with the first key: {n}. The other keys are no longer needed.")


def google_login(
    client: Annotated[
        Path,
        typer.Argument(help="JSON of an OAuth client (Desktop app)", metavar="CLIENT_JSON"),
    ],
    save: Annotated[Path, typer.Option(help="File to save the token in", metavar="TOKEN_FILE")],
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port for the redirect; 0 chooses a free one")
    ] = 0,
    browser: Annotated[
        bool,
        typer.Option("--browser/--no-browser", help="Open the browser, or only print the address"),
    ] = True,
) -> None:
    """Sign in to Google in the browser and save the token that a Google Drive source needs."""
    from services.sources.google_login import (
        google_login as sign_in,  # slow, and `--help` does not need it
    )

    try:
        sign_in(client, save, port=port, open_browser=browser)
    except KeyboardInterrupt:
        typer.echo("Stopped. Nothing was saved.")
        raise typer.Exit(INTERRUPTED) from None
    typer.echo(f"The token is in {save}. Paste it into the form of the Google Drive source, or put")
    typer.echo("it into an environment variable. Anyone who has the token can read your Drive.")


_MOMENTS = ("created_at", "used_at", "expires_at", "revoked_at")

api_key = typer.Typer(no_args_is_help=True, help="Create, list, and revoke API keys.")


@api_key.command("create")
def create_api_key(
    name: Annotated[str, typer.Argument(help="What the key is for, such as the program's name")],
    scope: Annotated[
        list[ApiScope] | None,
        typer.Option(help="Scope of the key; repeatable, no scope includes another"),
    ] = None,
    user: Annotated[
        str, typer.Option(help="User on whose behalf the key makes calls")
    ] = LOCAL_USER.user_id,
    group: Annotated[
        list[str] | None,
        typer.Option(help="Group whose documents the key may read; repeatable"),
    ] = None,
    expires_days: Annotated[
        int | None, typer.Option(min=1, max=3650, help="Days after which the key is invalid")
    ] = None,
    data_dir: DataDir = None,
) -> None:
    """Create a key. Standard output holds only its secret, which is never shown again."""
    principal = Principal(user, frozenset(group or ()))
    lifetime = None if expires_days is None else timedelta(days=expires_days)
    with open_services(data_dir, warn=False, must_exist=False) as services:
        new = services.api_keys.create(LOCAL_USER, principal, name, scope or (), lifetime)
    typer.echo(_about(new.key), err=True)
    typer.echo(new.secret)


@api_key.command("list")
def list_api_keys(as_json: AsJson = False, data_dir: DataDir = None) -> None:
    """List all keys, the oldest first, without their secrets."""
    with open_services(data_dir, warn=False) as services:
        keys = services.api_keys.list(LOCAL_USER)
    print_json(keys) if as_json else _print_table(keys, data_dir)


@api_key.command("revoke")
def revoke_api_key(
    key_id: Annotated[
        str, typer.Argument(metavar="ID", help="The id that `python cli.py api-key list` prints")
    ],
    data_dir: DataDir = None,
) -> None:
    """Revoke a key immediately, in every running process."""
    with open_services(data_dir, warn=False) as services:
        services.api_keys.revoke(LOCAL_USER, key_id)
    typer.echo(f"Key {key_id} is revoked.")


def _about(key: ApiKey) -> str:
    scopes = ", ".join(sorted(key.scopes))
    groups = f" in {', '.join(sorted(key.groups))}" if key.groups else ""
    end = f", until {minute_text(key.expires_at)}" if key.expires_at else ""
    return (
        f"Key {key.id} has the scopes {scopes} for {key.user_id}{groups}{end}. Save its secret now:"
        " only a digest is stored."
    )


def _print_table(keys: Sequence[ApiKey], data_dir: Path | None) -> None:
    if not keys:
        command = command_line(*NEW_KEY, data_dir=data_dir)
        typer.echo(f"There are no keys. Create one with: {command}")
        return
    head = ("ID", "NAME", "USER", "GROUPS", "SCOPES", "CREATED", "LAST USED", "EXPIRES", "REVOKED")
    print_table([head, *map(_row, keys)])


def _row(key: ApiKey) -> tuple[str, ...]:
    moments = (minute_text(getattr(key, name)) for name in _MOMENTS)
    groups, scopes = ", ".join(sorted(key.groups)) or "-", " ".join(sorted(key.scopes))
    return key.id, key.name, key.user_id, groups, scopes, *moments
