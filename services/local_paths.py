"""Paths of the machine that Footnote runs on, as people type them."""

from pathlib import Path

from errors import SourceError

_SHOWN_CHARS = 300


def from_home(told: str) -> Path:
    """The path that is told, a `~` at its beginning followed where there is such a home."""
    try:
        return Path(told).expanduser()
    except RuntimeError:  # nobody here is called what stands behind ~
        return Path(told)


def require_there(path: Path) -> None:
    """Refuse a path that can't be read or stored.

    Raises:
        SourceError: There is nothing, it may not be opened, or its name, or that of what a link
            leads to, is no UTF-8.
    """
    try:
        path.stat()
        resolved = path.resolve()
    except PermissionError as error:
        raise SourceError(
            f"{shown(path)} can't be opened: give the user who runs Footnote the right to read it."
        ) from error
    except (OSError, ValueError) as error:  # ValueError: a name that holds NUL
        raise SourceError(
            f"There is nothing at {shown(path)}: check the path and its spelling."
        ) from error
    for name in (path, resolved):  # what a link leads to is what is stored
        if str(name).encode(errors="replace").decode() != str(name):
            raise SourceError(f"The name of {shown(name)} is not valid UTF-8: rename it.")


def shown(path: Path) -> str:
    """The path as messages show it: shortened, and with bytes that are no letters as `?`."""
    return str(path).encode(errors="replace").decode()[:_SHOWN_CHARS]
