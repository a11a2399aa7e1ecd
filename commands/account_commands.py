"""`cli.py account`: the accounts of the people who have signed in."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from commands.console import AsJson, DataDir, new_file, open_services, print_json, print_table
from domain import LOCAL_USER, Account, Role

_AccountId = Annotated[
    str, typer.Argument(metavar="ID", help="The id that `python cli.py account list` prints")
]

account = typer.Typer(
    no_args_is_help=True, help="List the accounts of people, and change their roles."
)


@account.command("list")
def list_accounts(as_json: AsJson = False, data_dir: DataDir = None) -> None:
    """List all accounts by name, including disabled ones."""
    with open_services(data_dir, warn=False) as services:
        accounts = services.accounts.list(LOCAL_USER)
    print_json(accounts) if as_json else _print_accounts(accounts)


@account.command("set-role")
def set_role(
    account_id: _AccountId,
    role: Annotated[Role, typer.Argument(help="The new role")],
    data_dir: DataDir = None,
) -> None:
    """Give an account another role, from the person's next click on."""
    with open_services(data_dir, warn=False) as services:
        services.accounts.set_role(LOCAL_USER, account_id, role)
    typer.echo(f"Account {account_id} has the role {role.value}.")


@account.command()
def disable(account_id: _AccountId, data_dir: DataDir = None) -> None:
    """Refuse the sessions, sign-ins, and keys of an account from now on."""
    with open_services(data_dir, warn=False) as services:
        services.accounts.disable(LOCAL_USER, account_id)
    typer.echo(f"Account {account_id} is disabled.")


@account.command()
def enable(account_id: _AccountId, data_dir: DataDir = None) -> None:
    """Accept a disabled account again."""
    with open_services(data_dir, warn=False) as services:
        services.accounts.enable(LOCAL_USER, account_id)
    typer.echo(f"Account {account_id} is enabled.")


@account.command()
def export(
    account_id: _AccountId,
    file: Annotated[Path, typer.Argument(metavar="FILE.zip", help="The file to write")],
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file")] = False,
    data_dir: DataDir = None,
) -> None:
    """Write what is stored about an account to a zip archive of JSON files."""
    with open_services(data_dir, warn=False) as services, new_file(file, replace=force) as target:
        services.account_export.write(LOCAL_USER, account_id, target)
    typer.echo(f"The data of account {account_id} is in {file}.")


@account.command()
def delete(
    account_id: _AccountId,
    yes: Annotated[bool, typer.Option("--yes", help="Delete without asking")] = False,
    data_dir: DataDir = None,
) -> None:
    """Delete an account permanently, with everything that belongs to it.

    These are its conversations with their files, ratings, labels, preferences, and API keys. A
    person who signs in again gets a new account; to prevent that, remove them at the provider.
    """
    if not yes:
        typer.confirm(f"Delete account {account_id} and everything that belongs to it?", abort=True)
    with open_services(data_dir, warn=False) as services:
        services.account_deletion.delete(LOCAL_USER, account_id)
    typer.echo(f"Account {account_id} is deleted. A worker removes the files of its conversations.")


def _print_accounts(accounts: Sequence[Account]) -> None:
    if not accounts:
        typer.echo("Nobody has signed in yet.")
        return
    head = ("ID", "NAME", "EMAIL", "ROLE", "GROUPS", "LAST SEEN", "DISABLED")
    print_table([head, *map(_row, accounts)])


def _row(one: Account) -> tuple[str, ...]:
    groups, is_disabled = ", ".join(sorted(one.groups)) or "-", "yes" if one.disabled_at else "no"
    seen = f"{one.seen_at.astimezone():%Y-%m-%d %H:%M}"
    return one.id, one.name or "-", one.email or "-", one.role.value, groups, seen, is_disabled
