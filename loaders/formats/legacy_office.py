"""Word, PowerPoint and Excel files of before 2007, converted by LibreOffice to what is read."""

import io
import struct
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path

from errors import UnreadableError, UnreadableNowError
from loaders.formats.archive import ENCRYPTED
from loaders.formats.content import Content
from loaders.programs import TooSlowError, is_installed, run_program

_PROGRAM = "soffice"
_TIMEOUT_S = 120.0
_ZIP = b"PK\x03\x04"
_STREAMS = {
    "doc": ("WordDocument",),
    "ppt": ("PowerPoint Document",),
    "xls": ("Workbook", "Book"),
}
_WEB = (b"<html", b"<table", b"<!doctype html")
_HEAD = 1024  # bytes looked at to tell a web page, or a password
_FLAGS = 11
_FILE_PASS = 0x2F

# No macro, no link to elsewhere: what a file asks for is not done.
_PROFILE = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
<item oor:path="/org.openoffice.Office.Common/Security/Scripting">
<prop oor:name="DisableMacrosExecution" oor:op="fuse"><value>true</value></prop>
<prop oor:name="MacroSecurityLevel" oor:op="fuse"><value>3</value></prop>
<prop oor:name="BlockUntrustedRefererLinks" oor:op="fuse"><value>true</value></prop>
<prop oor:name="DisableActiveContent" oor:op="fuse"><value>true</value></prop>
</item>
</oor:items>
"""


def read_doc(data: bytes) -> Content:
    """Read a .doc file as its .docx is read; see `_read`."""
    return _read(data, "doc")


def read_ppt(data: bytes) -> Content:
    """Read a .ppt file as its .pptx is read; see `_read`."""
    return _read(data, "ppt")


def read_xls(data: bytes) -> Content:
    """Read a .xls file as its .xlsx is read; see `_read`."""
    return _read(data, "xls")


def _read(data: bytes, kind: str) -> Content:
    """The text; also of a newer file or a web page that only has the old name, as many have.

    Raises:
        UnreadableNowError: LibreOffice is not installed.
        UnreadableError: It needs a password, is damaged, or takes too long.
    """
    if data.startswith(_ZIP):
        return _reader(f"{kind}x")(data)
    if data[:_HEAD].lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith(_WEB):
        return _reader("html")(data)
    head = _main_stream(data, kind)
    if not is_installed(_PROGRAM):
        raise UnreadableNowError(_missing(f".{kind}"))
    return _reader(f"{kind}x")(_converted(data, head, kind))


def _missing(suffix: str) -> str:
    return (
        f"LibreOffice reads {suffix} files, and is not installed: install it on the machine that"
        " runs the worker (apt-get install libreoffice-writer-nogui libreoffice-calc-nogui"
        " libreoffice-impress-nogui), and import again"
    )


def _advice(suffix: str) -> str:
    return f"open it in its program, save it as {suffix} and import that"


def _reader(module: str) -> Callable[[bytes], Content]:
    reader: Callable[[bytes], Content] = import_module(f"loaders.formats.{module}").read
    return reader


def _converted(data: bytes, head: bytes, kind: str) -> bytes:
    new = f"{kind}x"
    try:
        ran = run_program(
            lambda folder: _command(folder, kind),
            {f"it.{kind}": data},
            f"out/it.{new}",
            timeout_s=_TIMEOUT_S,
        )
    except TooSlowError as error:
        raise UnreadableError(
            f"LibreOffice took longer than {_TIMEOUT_S:g} s: {_advice(f'.{new}')}"
        ) from error
    if ran.made is not None:
        return ran.made
    if _is_encrypted(head, data, kind):
        raise UnreadableError(ENCRYPTED)
    raise UnreadableError(f"LibreOffice can't open it: {_advice(f'.{new}')}")


def _command(folder: Path, kind: str) -> Sequence[str]:
    """A profile of its own lets runs stand beside each other, and beside a person's LibreOffice."""
    profile = folder / "profile"
    (profile / "user").mkdir(parents=True)
    (profile / "user" / "registrymodifications.xcu").write_text(_PROFILE, encoding="utf-8")
    options = ["--headless", "--norestore", "--nolockcheck", "--nodefault"]
    convert = ["--convert-to", f"{kind}x", "--outdir", str(folder / "out")]
    return [
        _PROGRAM,
        f"-env:UserInstallation={profile.as_uri()}",
        *options,
        *convert,
        str(folder / f"it.{kind}"),
    ]


def _main_stream(data: bytes, kind: str) -> bytes:
    """The beginning of the stream that makes the file one of its kind.

    Without it LibreOffice would take the file for a text, and show its bytes as letters.
    """
    from olefile import OleFileIO  # type: ignore[import-untyped]

    try:
        with OleFileIO(io.BytesIO(data)) as streams:
            for name in _STREAMS[kind]:
                if streams.exists(name):
                    head: bytes = streams.openstream(name).read(_HEAD)
                    return head
    except OSError:
        pass  # told below: without its cause, as what the system refuses would be tried again
    raise UnreadableError(
        f"damaged, or not really .{kind}: open it in its program, and save it as .{kind}x"
    )


def _is_encrypted(head: bytes, data: bytes, kind: str) -> bool:
    """Whether a file that could not be opened says that it needs a password."""
    if kind == "ppt":  # [MS-PPT] 2.3.7: a stream of that name
        return "EncryptedSummary".encode("utf-16-le") in data
    return _says_word(head) if kind == "doc" else _says_excel(head)


def _says_word(head: bytes) -> bool:
    """[MS-DOC] 2.5.2: fEncrypted is the lowest bit of the file information block's byte 11."""
    return len(head) > _FLAGS and bool(head[_FLAGS] & 1)


def _says_excel(head: bytes) -> bool:
    """[MS-XLS] 2.4.117: a FilePass record among the first, each its type, its length, its data."""
    at = 0
    while at + 4 <= len(head):
        kind, length = struct.unpack_from("<HH", head, at)
        if kind == _FILE_PASS:
            return True
        at += 4 + length
    return False
