"""`cli.py encryption-key`: makes keys that the secrets of sources are kept encrypted with."""

from typing import Annotated

import typer

from commands.running import DataDir, open_services


def encryption_key(
    rotate: Annotated[
        bool, typer.Option(help="Encrypt all secrets anew, with the key that comes first")
    ] = False,
    data_dir: DataDir = None,
) -> None:
    """Print a new key for FOOTNOTE_ENCRYPTION_KEY, or for encryption.key in the data folder.

    Neither is needed: the first secret has a key made in that file. Keys of the setting come before
    those of the file. To change keys, put the new one before the old one, separated by a comma,
    and run this with --rotate; then take the old one out.
    """
    if not rotate:
        from services.secrets import new_key

        typer.echo(new_key())
        return
    with open_services(data_dir, tell=False) as services:
        n = services.source_secrets.rotate()
    typer.echo(f"Secrets encrypted with the first key: {n}. The other keys are no longer needed.")
