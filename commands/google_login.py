"""`cli.py google-login`: a person lets Footnote read their Google Drive, once."""

from pathlib import Path
from typing import Annotated

import typer

from commands.running import INTERRUPTED


def google_login(
    client: Annotated[
        Path,
        typer.Argument(help="JSON of an OAuth client (Desktop app)", metavar="CLIENT_JSON"),
    ],
    save: Annotated[Path, typer.Option(help="File to keep the token in", metavar="TOKEN_FILE")],
    port: Annotated[int, typer.Option(min=0, max=65535, help="Wait here; 0: any free port")] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open it, or only print the address")
    ] = True,
) -> None:
    """Sign in to Google in the browser, and keep the token that a Google Drive source needs."""
    from services.google_login import google_login as sign_in  # slow, and `--help` needs none

    try:
        sign_in(client, save, port=port, open_browser=browser)
    except KeyboardInterrupt:
        typer.echo("Stopped. Nothing was saved.")
        raise typer.Exit(INTERRUPTED) from None
    typer.echo(f"The token is in {save}. Paste it into the form of the Google Drive source, or put")
    typer.echo("it into an environment variable. Whoever has it can read that Drive.")
