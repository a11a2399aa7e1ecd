"""Names of uploaded files, made fit for any file system."""

import unicodedata
from pathlib import PurePosixPath

MAX_BYTES = 200
_UNFIT = str.maketrans(dict.fromkeys('<>:"|?*', "_"))
_JOINERS = {"\u200c", "\u200d"}  # written languages and emoji need them
_INVISIBLE = ("Cc", "Cf", "Cs", "Cn", "Zl", "Zp")
_RESERVED = {
    "CON",
    "PRN",
    "AUX",
    "NUL",
    *(f"{port}{n}" for port in ("COM", "LPT") for n in "123456789"),
}


def safe_name(name: str) -> str:
    """The name without folders, control characters or what some system refuses; "" if none is left.

    It is in NFC, at most `MAX_BYTES` long in UTF-8 with its suffix kept, and never hidden: a name
    made safe is safe.
    """
    last = name.replace("\\", "/").rpartition("/")[2]
    visible = "".join(letter for letter in last if _is_visible(letter)).translate(_UNFIT)
    bare = _bare(unicodedata.normalize("NFC", visible))
    if bare.partition(".")[0].rstrip().upper() in _RESERVED:
        bare = f"_{bare}"
    return _bare(_shortened(bare))


def _is_visible(letter: str) -> bool:
    return letter in _JOINERS or unicodedata.category(letter) not in _INVISIBLE


def _bare(name: str) -> str:
    """Without what hides a file, and without the ends that Windows drops."""
    while name != (name := name.strip(" .").removeprefix("~$")):
        pass
    return name


def _shortened(name: str) -> str:
    suffix = PurePosixPath(name).suffix
    if len(suffix.encode()) > MAX_BYTES // 2:
        suffix = ""
    room = MAX_BYTES - len(suffix.encode())
    stem = name.removesuffix(suffix) if suffix else name
    return stem.encode()[:room].decode(errors="ignore") + suffix
