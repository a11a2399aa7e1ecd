"""`cli.py audit`: who changed what, and when."""

from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer

from commands.console import AsJson, DataDir, open_services, print_json, print_table
from domain import LOCAL_USER, Action, AuditEvent

_SHOWN_DETAIL_CHARS = 60
_LARGEST = 2**63 - 1

audit = typer.Typer(no_args_is_help=True, help="Show who changed what, and when.")


@audit.command("list")
def list_events(
    since: Annotated[
        int | None,
        typer.Option(min=1, max=3650, metavar="DAYS", help="Only events of the last days"),
    ] = None,
    action: Annotated[Action | None, typer.Option(help="Only events with this action")] = None,
    actor: Annotated[
        str, typer.Option(help="Only events of this account or user id, or name")
    ] = "",
    before: Annotated[
        int | None,
        typer.Option(min=1, max=_LARGEST, metavar="ID", help="Only events older than this one"),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=200, help="Maximum number of events")] = 50,
    as_json: AsJson = False,
    data_dir: DataDir = None,
) -> None:
    """List the latest events of the audit log, the newest first."""
    first = None if since is None else datetime.now(UTC) - timedelta(days=since)
    with open_services(data_dir, warn=False) as services:
        events = services.audit.list(
            LOCAL_USER, since=first, action=action or "", actor=actor, before=before, limit=limit
        )
    if as_json:
        print_json(events)
    else:
        print_table([("ID", "TIME", "ACTOR", "ACTION", "OBJECT", "DETAIL"), *map(_row, events)])


def _row(event: AuditEvent) -> tuple[str, ...]:
    actor = f"{event.actor_name} ({event.actor})" if event.actor_name else event.actor
    detail = ", ".join(f"{name}={value}" for name, value in event.detail.items())
    time = f"{event.at.astimezone():%Y-%m-%d %H:%M:%S}"
    shown = detail[:_SHOWN_DETAIL_CHARS] or "-"
    return str(event.id), time, actor, event.action, event.object_id or "-", shown
