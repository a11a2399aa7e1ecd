"""`cli.py access`: who may read sources, collections, and documents."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from commands.console import AsJson, DataDir, open_services, print_json
from domain import LOCAL_USER, Principal
from domain.errors import InputError

if TYPE_CHECKING:
    from bootstrap import Services
    from services.reader_names import Readers

access = typer.Typer(
    no_args_is_help=True, help="Show and change who may read sources, collections, and documents."
)
_Name = Annotated[
    str, typer.Argument(metavar="SOURCE", help="Name or id of a source, or name of a collection")
]
_IsCollection = Annotated[
    bool, typer.Option("--collection", help="SOURCE is the name of a collection")
]


@access.command("readers")
def show_readers(
    name: _Name,
    is_collection: _IsCollection = False,
    as_json: AsJson = False,
    data_dir: DataDir = None,
) -> None:
    """Show the readers of a source or collection, one a line."""
    with open_services(data_dir, warn=False) as services:
        if is_collection:
            readers = services.permissions.collection_readers(LOCAL_USER, name)
        else:
            readers = services.permissions.readers(LOCAL_USER, _source_id(services, name))
    if as_json:
        print_json({"readers": readers})
    else:
        typer.echo("\n".join(_lines(readers)))


@access.command("allow")
def allow_readers(
    name: _Name,
    readers: Annotated[
        list[str],
        typer.Argument(
            metavar="READER...", help="user:ID, group:NAME, email:ADDRESS, or domain:NAME"
        ),
    ],
    is_collection: _IsCollection = False,
    data_dir: DataDir = None,
) -> None:
    """Let only these readers read a source or collection; they replace earlier ones."""
    stored = _set_readers(name, readers, is_collection, data_dir)
    typer.echo(f"{name} is now readable by: {', '.join(_lines(stored))}")


@access.command("open")
def open_to_everyone(
    name: _Name, is_collection: _IsCollection = False, data_dir: DataDir = None
) -> None:
    """Let everyone read a source or collection."""
    _set_readers(name, None, is_collection, data_dir)
    typer.echo(f"{name} is now readable by everyone.")


@access.command("why")
def explain(
    document_id: Annotated[str, typer.Argument(metavar="DOCUMENT", help="Id of the document")],
    user: Annotated[str, typer.Option(help="Id of the user; empty for any user")] = "",
    group: Annotated[list[str] | None, typer.Option(help="Group of the user; repeatable")] = None,
    email: Annotated[str, typer.Option(help="Email address of the user")] = "",
    as_json: AsJson = False,
    data_dir: DataDir = None,
) -> None:
    """Explain why a user may read a document, or why not."""
    person = Principal(user, frozenset(group or ()), email=email)
    with open_services(data_dir, warn=False) as services:
        explanation = services.permissions.why(LOCAL_USER, person, document_id)
    if as_json:
        print_json(explanation)
    else:
        typer.echo(explanation.message)


def _set_readers(
    name: str, readers: list[str] | None, is_collection: bool, data_dir: Path | None
) -> "Readers | None":
    with open_services(data_dir, warn=False) as services:
        permissions = services.permissions
        if is_collection:
            return permissions.set_collection_readers(LOCAL_USER, name, readers)
        return permissions.set_readers(LOCAL_USER, _source_id(services, name), readers)


def _lines(readers: "Readers | None") -> "Readers":
    return ("everyone",) if readers is None else readers or ("nobody",)


def _source_id(services: "Services", name: str) -> str:
    """The id of the source with this name or id.

    Raises:
        InputError: There is none, or there are several.
    """
    shared = [one.source for one in services.sources.list(LOCAL_USER)]
    ids = [one.id for one in shared if name in (one.id, one.name)]
    if len(ids) > 1:
        raise InputError(f"Several sources have the name {name!r}: use an id of {', '.join(ids)}.")
    if not ids:
        names = ", ".join(sorted({one.name for one in shared})) or "none"
        raise InputError(f"There is no source {name!r}. Sources: {names}.")
    return ids[0]
