"""`cli.py api-key`: keys with which programs call the API."""

from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from commands.running import AsJson, DataDir, open_services, print_json
from domain import LOCAL_USER, ApiKey, ApiScope, Principal

if TYPE_CHECKING:
    from collections.abc import Sequence

api_key = typer.Typer(no_args_is_help=True, help="Make, list and revoke keys of the API.")


@api_key.command("create")
def create_api_key(
    name: Annotated[str, typer.Argument(help="What the key is for, such as the program's name")],
    scope: Annotated[
        list[ApiScope] | None,
        typer.Option(help="What it allows; repeatable, none of them holds another"),
    ] = None,
    user: Annotated[
        str, typer.Option(help="Whose conversations it sees and keeps")
    ] = LOCAL_USER.user_id,
    data_dir: DataDir = None,
) -> None:
    """Make a key. Its secret is all that stands on standard output, and is never shown again."""
    with open_services(data_dir, tell=False) as services:
        made = services.api_keys.create(Principal(user), name, scope or ())
    typer.echo(
        f"Key {made.key.id} allows to {', '.join(sorted(made.key.scopes))} for {made.key.user_id}."
        " Keep its secret now: only a digest of it is kept here.",
        err=True,
    )
    typer.echo(made.secret)


@api_key.command("list")
def list_api_keys(as_json: AsJson = False, data_dir: DataDir = None) -> None:
    """List all keys, the oldest first; never a secret."""
    with open_services(data_dir, tell=False) as services:
        keys = services.api_keys.list()
    print_json([_as_data(key) for key in keys]) if as_json else _print_table(keys)


@api_key.command("revoke")
def revoke_api_key(
    key_id: Annotated[str, typer.Argument(metavar="ID", help="As `api-key list` shows it")],
    data_dir: DataDir = None,
) -> None:
    """End a key at once, in every process that runs."""
    with open_services(data_dir, tell=False) as services:
        services.api_keys.revoke(key_id)
    typer.echo(f"Key {key_id} opens nothing any more.")


def _as_data(key: ApiKey) -> dict[str, Any]:
    moments = {name: _iso(getattr(key, name)) for name in ("created_at", "used_at", "revoked_at")}
    return {**asdict(key), "scopes": sorted(key.scopes), **moments}


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None


def _print_table(keys: "Sequence[ApiKey]") -> None:
    if not keys:
        typer.echo("No key was made yet; `api-key create` makes one.")
        return
    head = ("ID", "NAME", "USER", "SCOPES", "CREATED", "LAST USED", "REVOKED")
    rows = [head, *map(_row, keys)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        typer.echo("  ".join(cells).rstrip())


def _row(key: ApiKey) -> tuple[str, ...]:
    moments = (key.created_at, key.used_at, key.revoked_at)
    scopes = " ".join(sorted(key.scopes))
    return key.id, key.name, key.user_id, scopes, *map(_when, moments)


def _when(moment: datetime | None) -> str:
    return f"{moment.astimezone():%Y-%m-%d %H:%M}" if moment else "-"
