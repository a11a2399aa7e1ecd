"""`cli.py check`, `reindex`, `backup`, and `restore`: the library as a whole."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from commands.console import (
    LOOK,
    AsJson,
    DataDir,
    command_line,
    open_services,
    print_json,
    progress_bar,
    settings_from_options,
)
from domain import LOCAL_USER
from domain.errors import ConflictError, DamagedLedgerError

if TYPE_CHECKING:
    from services.backups.backup_service import Manifest


def check(as_json: AsJson = False, data_dir: DataDir = None) -> None:
    """Verify that the ledger and the index files are intact and agree with each other.

    If uploaded files are in a bucket, it is checked too.
    """
    _require_sound_ledger(data_dir, as_json=as_json)
    with open_services(data_dir) as services:
        services.uploads.check_bucket()
        report = services.maintenance.check(LOCAL_USER)
    if as_json:
        print_json({"agrees": report.agrees, "disagreements": report.disagreements})
    else:
        for line in report.disagreements:
            typer.echo(line)
        repair = f"`{command_line('reindex', data_dir=data_dir)}` repairs it."
        verdict = "all agree." if report.agrees else repair
        typer.echo(f"{report.documents} documents, {report.passages} passages: {verdict}")
    raise typer.Exit(0 if report.agrees else LOOK)


def _require_sound_ledger(data_dir: Path | None, *, as_json: bool) -> None:
    from bootstrap import check_ledger  # slow, and `--help` does not need it

    try:
        check_ledger(settings_from_options(data_dir))
    except DamagedLedgerError as error:
        if as_json:
            print_json({"agrees": False, "disagreements": error.findings})
        else:
            typer.echo("\n".join(error.findings))
        raise


def reindex(data_dir: DataDir = None) -> None:
    """Rebuild passages and keyword index from the ledger, with the current settings."""
    with open_services(data_dir, warn=False) as services, progress_bar() as progress:
        report = services.maintenance.reindex(LOCAL_USER, on_progress=progress)
    typer.echo(f"{report.passages_embedded} passages embedded; the new index is active.")
    if report.problem:
        warning = f"Other programs may still search the replaced index: {report.problem}"
        typer.secho(warning, fg="yellow", err=True)


def backup(
    target: Annotated[Path, typer.Argument(help="A new file, or a folder for it")],
    data_dir: DataDir = None,
) -> None:
    """Back up the library to one file, while it is in use, and verify the file.

    It contains the ledger, the index, uploaded files, and stored settings, but no encryption key.
    Uploaded files in a bucket are not in it.
    """
    with open_services(data_dir, warn=False) as services, progress_bar() as progress:
        written = services.backups.back_up(LOCAL_USER, target, on_progress=progress)
        key = services.backups.key_file
        bucket = services.parts.settings.uploads_url
    size = written.file.stat().st_size / 2**20
    typer.echo(f"{written.file} ({size:.1f} MiB): {_contents(written.manifest)}; verified.")
    if bucket:
        typer.echo(
            f"The uploaded files in {bucket} are not in the backup: protect the bucket with its"
            " own tools, such as versions of objects."
        )
    if key is not None:
        typer.echo(
            f"The encryption key is not in the backup: keep a copy of {key} in another place."
            " Without it, the keys and passwords in the backup can't be used."
        )


def restore(
    file: Annotated[Path, typer.Argument(help="A backup")],
    only_check: Annotated[
        bool, typer.Option("--check", help="Only verify the backup, without restoring it")
    ] = False,
    data_dir: DataDir = None,
) -> None:
    """Restore a backup into an empty or new data folder, after verifying it, and check the result.

    A backup of an earlier version is upgraded.
    """
    from services.backups.backup_service import check_backup, restore_backup

    settings = settings_from_options(data_dir)
    if only_check:
        with progress_bar() as progress:
            manifest = check_backup(file, progress)
        typer.echo(f"{file} is intact: {_contents(manifest)}, {manifest.created_at:%Y-%m-%d}.")
        return
    if settings.database_url is not None:
        raise ConflictError(
            "Backups are restored into a data folder, but FOOTNOTE_DATABASE_URL names another"
            " database: unset it."
        )
    with progress_bar() as progress:
        manifest = restore_backup(file, settings.data_dir, progress)
    typer.echo(f"Restored to {settings.data_dir}: {_contents(manifest)}.")
    typer.echo(
        "If the library had an encryption key, copy encryption.key to this folder, or set"
        " FOOTNOTE_ENCRYPTION_KEY."
    )
    check(data_dir=data_dir)


def _contents(manifest: "Manifest") -> str:
    files = sum(name.startswith("uploads/") for name in manifest.files)
    counts = ", ".join(f"{count} {name}" for name, count in manifest.counts.items())
    return f"{counts}, {files} uploaded files"
