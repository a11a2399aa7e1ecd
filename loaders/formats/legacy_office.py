"""Reads Word, PowerPoint, and Excel files in pre-2007 formats, converted by LibreOffice."""

import io
import struct
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from domain.errors import TemporarilyUnreadableError, UnreadableError
from domain.messages import _
from loaders.formats import reader_of
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
_HEAD = 1024  # bytes examined to detect a web page or a password
_FLAGS = 11
_FILE_PASS = 0x2F

# Disables macros, links, and active content.
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


def _read(kind: str, data: bytes) -> Content:
    """Read a file; many with an old suffix are really newer files or web pages.

    Raises:
        TemporarilyUnreadableError: LibreOffice is not installed.
        UnreadableError: The file needs a password or is damaged, or its conversion takes too long.
    """
    if data.startswith(_ZIP):
        return reader_of(f".{kind}x")(data)
    if data[:_HEAD].lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith(_WEB):
        return reader_of(".html")(data)
    head = _main_stream(data, kind)
    if not is_installed(_PROGRAM):
        raise TemporarilyUnreadableError(_missing(f".{kind}"))
    return reader_of(f".{kind}x")(_convert(data, head, kind))


read_doc = partial(_read, "doc")
read_ppt = partial(_read, "ppt")
read_xls = partial(_read, "xls")


def _missing(suffix: str) -> str:
    return _(
        "{suffix} files require LibreOffice, which is not installed: install it on the"
        " machine that runs the worker (apt-get install libreoffice-writer-nogui"
        " libreoffice-calc-nogui libreoffice-impress-nogui), and import again"
    ).format(suffix=suffix)


def _advice(suffix: str) -> str:
    return _(
        "open it in the program that created it, save it as {suffix}, and import that file"
    ).format(suffix=suffix)


def _convert(data: bytes, head: bytes, kind: str) -> bytes:
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
            _("LibreOffice took longer than {timeout_s} s: {advice}").format(
                timeout_s=f"{_TIMEOUT_S:g}", advice=_advice(f".{new}")
            )
        ) from error
    if ran.output_file is not None:
        return ran.output_file
    if _is_encrypted(head, data, kind):
        raise UnreadableError(ENCRYPTED)
    raise UnreadableError(
        _("LibreOffice can't open it: {advice}").format(advice=_advice(f".{new}"))
    )


def _command(folder: Path, kind: str) -> Sequence[str]:
    """The command, with its own profile: runs don't affect each other or a user's LibreOffice."""
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
    """The beginning of the stream that identifies the kind of the file.

    If the stream is missing, LibreOffice would treat the file as text and show its bytes as
    letters.
    """
    from olefile import OleFileIO  # type: ignore[import-untyped]

    try:
        with OleFileIO(io.BytesIO(data)) as streams:
            for name in _STREAMS[kind]:
                if streams.exists(name):
                    head: bytes = streams.openstream(name).read(_HEAD)
                    return head
    except OSError:
        pass  # reported below, without the OSError as its cause, which would be retried
    raise UnreadableError(
        _(
            "damaged, or not a .{kind} file: open it in the program that created it, and save it"
            " as .{kind}x"
        ).format(kind=kind)
    )


def _is_encrypted(head: bytes, data: bytes, kind: str) -> bool:
    """Whether a file that could not be opened is marked as needing a password."""
    if kind == "ppt":  # [MS-PPT] 2.3.7: a stream with this name
        return "EncryptedSummary".encode("utf-16-le") in data
    if kind == "doc":  # fEncrypted, the lowest bit of the file information block ([MS-DOC] 2.5.2)
        return len(head) > _FLAGS and bool(head[_FLAGS] & 1)
    return _has_password_record(head)


def _has_password_record(head: bytes) -> bool:
    """Look for a FilePass record ([MS-XLS] 2.4.117); records have a type, a length, and data."""
    at = 0
    while at + 4 <= len(head):
        kind, length = struct.unpack_from("<HH", head, at)
        if kind == _FILE_PASS:
            return True
        at += 4 + length
    return False
