"""Names of uploaded files: safe to store on every system, and without conflicts in a box."""

import unicodedata
from collections.abc import Iterable
from pathlib import PurePosixPath

from domain.messages import _

MAX_BYTES = 200
_UNFIT = str.maketrans(dict.fromkeys('<>:"|?*', "_"))
_JOINERS = {"\u200c", "\u200d"}  # needed by some scripts and emoji
_INVISIBLE = ("Cc", "Cf", "Cs", "Cn", "Zl", "Zp")
_RESERVED = {
    "CON",
    "PRN",
    "AUX",
    "NUL",
    *(f"{port}{n}" for port in ("COM", "LPT") for n in "123456789"),
}


def safe_name(name: str) -> str:
    """The name without folders, control characters, and characters that some systems reject.

    The result is in NFC, has at most `MAX_BYTES` in UTF-8 including its suffix, and never names a
    hidden file. The function is idempotent and returns "" if nothing remains.
    """
    last = name.replace("\\", "/").rpartition("/")[2]
    visible = "".join(letter for letter in last if _is_visible(letter)).translate(_UNFIT)
    bare = _bare(_shorten(_bare(unicodedata.normalize("NFC", visible))))
    if bare.partition(".")[0].rstrip().upper() in _RESERVED:
        bare = _bare(_shorten(f"_{bare}"))
    return bare


def _is_visible(letter: str) -> bool:
    return letter in _JOINERS or unicodedata.category(letter) not in _INVISIBLE


def _bare(name: str) -> str:
    """Remove prefixes that hide a file and trailing characters that Windows drops."""
    while name != (name := name.strip(" .").removeprefix("~$")):
        pass
    return name


def _shorten(name: str) -> str:
    suffix = PurePosixPath(name).suffix
    if len(suffix.encode()) > MAX_BYTES // 2:
        suffix = ""
    room = MAX_BYTES - len(suffix.encode())
    stem = name.removesuffix(suffix) if suffix else name
    return stem.encode()[:room].decode(errors="ignore") + suffix


_MOST_FOLDERS = 12


def safe_path(path: str) -> str:
    """The path with a safe name for each folder and for the file; "" if the file has none.

    The result is relative and never leads upwards. Of very deep paths, the innermost folders stay.
    """
    *folders, name = map(safe_name, path.replace("\\", "/").split("/"))
    steps = [step for step in folders if step][-_MOST_FOLDERS:]
    return "/".join([*steps, name]) if name else ""


class BoxNames:
    """The names in a box, where a file and a folder can't have the same name."""

    def __init__(self, keys: Iterable[str]) -> None:
        self._files: set[str] = set()
        self._folders: set[str] = set()
        for key in keys:
            self.add(key)

    def add(self, key: str) -> None:
        """Add the name of a file."""
        self._files.add(key)
        self._folders.update(_folders_of(key))

    def conflict(self, key: str) -> str | None:
        """Why a file can't have this key; None if it can."""
        if key in self._folders:
            return _("there is already a folder {name}: rename the file").format(name=repr(key))
        for folder in _folders_of(key):
            if folder in self._files:
                return _("there is already a file {name}: rename the folder or archive").format(
                    name=repr(folder)
                )
        return None


def _folders_of(key: str) -> list[str]:
    return [str(folder) for folder in PurePosixPath(key).parents][:-1]
