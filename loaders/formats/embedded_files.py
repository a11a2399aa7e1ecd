"""Reads files in a file (attachments of an email, files in a .zip) as sections of its text."""

import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial

from domain import HIDDEN_NAMES
from domain.errors import TemporarilyUnreadableError, UnreadableError
from domain.messages import _, join_messages
from loaders.encoding import decode
from loaders.formats import read_file, unsupported
from loaders.formats.archive import ENCRYPTED, open_zip, read_part
from loaders.formats.content import Content, clean, heading, one_line

MAX_PARTS = 1000
"""The maximum number of files read from one file, including nested ones."""
_MAX_SIZE = 256 * 2**20  # bytes, including nested files
_MAX_TEXT = 32 * 2**20  # characters, likewise; nested archives may unpack to any size
_MAX_DEPTH = 2
_MAX_WARNINGS = 50
_TOO_DEEP = _(
    "not read: nested more than {max_depth} files deep. Extract it and import it separately"
).format(max_depth=_MAX_DEPTH)
_TOO_MANY = _("not read: more than {max_parts} embedded files. Split the file").format(
    max_parts=MAX_PARTS
)
_TOO_LARGE = _("not read: the embedded files exceed {max_size} MiB. Split the file").format(
    max_size=_MAX_SIZE // 2**20
)
_TOO_MUCH = _(
    "not read: the text of the embedded files exceeds {max_text} MiB. Split the file"
).format(max_text=_MAX_TEXT // 2**20)


@dataclass(frozen=True, slots=True)
class Part:
    """A file in another file: its path there, and its bytes or the content read from it.

    `data` may raise UnreadableError. In a zip archive, it returns at most `size` bytes; otherwise,
    the size is unknown and 0.
    """

    name: str
    data: Callable[[], bytes | Content]
    size: int = 0


@dataclass(frozen=True, slots=True)
class Sections:
    """The parts as one text, empty if none could be read; `again`: a retry may read more."""

    text: str
    warnings: tuple[str, ...]
    again: bool


@dataclass(slots=True)
class _Budget:
    """The remaining limits for the outermost file; `depth` is the current nesting depth."""

    depth: int = 0
    parts: int = MAX_PARTS
    size: int = _MAX_SIZE
    text: int = _MAX_TEXT


_budget: ContextVar[_Budget | None] = ContextVar("budget", default=None)


def sections(parts: Iterable[Part], level: int = 1) -> Sections:
    """Read each part under a heading of this level with its name.

    The warnings name the parts that were not read, with the reason, and include the warnings of the
    others.
    """
    texts: list[str] = []
    warnings: list[str] = []
    retry = False
    with _deeper() as budget:
        for part in parts:
            try:
                text, part_warnings = _section(part, budget)
            except UnreadableError as error:
                warnings.append(join_messages((part.name, str(error)), ": "))
                retry = retry or error.retryable
                continue
            texts.append(f"{heading(level, part.name)}\n\n{text}")
            warnings += (join_messages((part.name, warning), ": ") for warning in part_warnings)
    return Sections("\n\n".join(texts), _limit(warnings), again=retry)


@contextmanager
def _deeper() -> Iterator[_Budget]:
    budget = _budget.get() or _Budget()
    token = _budget.set(budget)
    budget.depth += 1
    try:
        yield budget
    finally:
        budget.depth -= 1
        _budget.reset(token)


def _section(part: Part, budget: _Budget) -> tuple[str, Sequence[str]]:
    if budget.depth > _MAX_DEPTH:
        raise UnreadableError(_TOO_DEEP)
    if budget.parts <= 0:
        raise UnreadableError(_TOO_MANY)
    budget.parts -= 1
    if budget.text <= 0:
        raise UnreadableError(_TOO_MUCH)
    data = part.data()
    if isinstance(data, Content):
        return data.text, data.warnings
    budget.size -= len(data)
    if budget.size < 0:
        raise UnreadableError(_TOO_LARGE)
    budget_before = budget.text
    text, metadata = read_file(one_line(part.name), data)
    budget.text = min(budget.text, budget_before - len(text))
    if budget.text < 0:
        raise UnreadableError(_TOO_MUCH)
    return text, metadata["warnings"]


def _limit(warnings: list[str]) -> tuple[str, ...]:
    omitted = len(warnings) - _MAX_WARNINGS
    more = (_("and {number} more such files").format(number=omitted),) if omitted > 0 else ()
    return (*warnings[:_MAX_WARNINGS], *more)


_UTF8_FLAG = 0x800
_ARTIFACTS = ("__MACOSX/",)
_HIDDEN = (*HIDDEN_NAMES, "Thumbs.db", "desktop.ini")
_UPWARDS = (".", "..")
_MAX_REASONS = 5


def read_zip(data: bytes) -> Content:
    """Read the files of an archive in order, with a warning for each that can't be read.

    Nothing is written to disk, so paths in the archive are harmless.

    Raises:
        UnreadableError: The archive is encrypted, damaged, or too large, or has no readable file;
            TemporarilyUnreadableError if a file can be read after a program is installed.
    """
    contents = sections(zip_parts(data))
    if not contents.text:
        reason = _nothing(contents.warnings)
        raise TemporarilyUnreadableError(reason) if contents.again else UnreadableError(reason)
    return Content(contents.text, warnings=contents.warnings)


def zip_parts(data: bytes) -> list[Part]:
    """The files of an archive in order, without hidden ones; each is unpacked when it is read.

    Those of unsupported formats are empty. Paths may lead out of the archive.

    Raises:
        UnreadableError: The archive is encrypted, damaged, or too large.
    """
    archive = open_zip(data, ".zip")
    files = [part for part in archive.infolist() if not part.is_dir()]
    if len(files) > MAX_PARTS:
        raise UnreadableError(
            _("it contains {files} files, more than {max_parts}: split it").format(
                files=len(files), max_parts=MAX_PARTS
            )
        )
    if files and all(file.flag_bits & 1 for file in files):
        raise UnreadableError(ENCRYPTED)
    return list(_parts(archive, files))


def _parts(archive: zipfile.ZipFile, files: Sequence[zipfile.ZipInfo]) -> Iterator[Part]:
    for file, name in zip(files, _names(files), strict=True):
        steps = name.split("/")
        hidden = any(step.startswith(_HIDDEN) and step not in _UPWARDS for step in steps)
        if not hidden and not name.startswith(_ARTIFACTS):
            # Files of unsupported formats need not be unpacked to be reported.
            if unsupported(name):
                yield Part(name, bytes)
            else:
                yield Part(name, partial(read_part, archive, file), file.file_size)


def _names(files: Sequence[zipfile.ZipInfo]) -> list[str]:
    """The paths; names without a declared encoding are decoded together, with the same one."""
    raw = [b"" if file.flag_bits & _UTF8_FLAG else _raw(file) for file in files]
    encoding = _encoding(b"\n".join(raw))
    names = [
        raw_name.decode(encoding, "replace") if raw_name else file.filename
        for file, raw_name in zip(files, raw, strict=True)
    ]
    return [one_line(clean(name).replace("\\", "/")) or "untitled" for name in names]


def _raw(file: zipfile.ZipInfo) -> bytes:
    # Python decodes names without a declared encoding as code page 437, which is lossless.
    return file.orig_filename.partition("\0")[0].encode("cp437", "replace")


def _encoding(names: bytes) -> str:
    try:
        return decode(names).encoding
    except UnreadableError:
        return "cp437"


def _nothing(warnings: Sequence[str]) -> str:
    if not warnings:
        return _("the archive contains no files")
    more = (
        [_("and {number} more").format(number=omitted)]
        if (omitted := len(warnings) - _MAX_REASONS) > 0
        else []
    )
    reasons = join_messages([*warnings[:_MAX_REASONS], *more])
    return _("nothing in the archive can be read: {reasons}").format(reasons=reasons)
