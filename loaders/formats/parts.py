"""Files within a file (attachments of a mail, members of an archive) as sections of its text."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from errors import UnreadableError
from loaders.formats import read_document
from loaders.formats.content import Content, heading, one_line

MAX_PARTS = 1000
"""How many files within one file are read, those of files within it counted too."""
_MAX_SIZE = 256 * 2**20  # bytes, those of files within files counted too
_MAX_TEXT = 32 * 2**20  # characters, likewise; archives in archives unpack to anything
_MAX_DEPTH = 2
_MAX_WARNINGS = 50
_TOO_DEEP = (
    f"not read: more than {_MAX_DEPTH} files deep in others. Take it out and import it alone"
)
_TOO_MANY = f"not read: more than {MAX_PARTS} files within one. Split it"
_TOO_LARGE = f"not read: the files within are more than {_MAX_SIZE // 2**20} MiB. Split it"
_TOO_MUCH = (
    f"not read: the text of the files within is more than {_MAX_TEXT // 2**20} MiB. Split it"
)


@dataclass(frozen=True, slots=True)
class Part:
    """A file within another: its path there, and its bytes, or what was read of them.

    Asking for `data` may raise UnreadableError.
    """

    name: str
    data: Callable[[], bytes | Content]


@dataclass(frozen=True, slots=True)
class Sections:
    """The parts as one text, empty where nothing could be read; `again`: one may be next time."""

    text: str
    warnings: tuple[str, ...]
    again: bool


@dataclass(slots=True)
class _Budget:
    """What may still be read of the outermost file; `depth` is how deep the reading is now."""

    depth: int = 0
    parts: int = MAX_PARTS
    size: int = _MAX_SIZE
    text: int = _MAX_TEXT


_budget: ContextVar[_Budget | None] = ContextVar("budget", default=None)


def sections(parts: Iterable[Part], level: int = 1) -> Sections:
    """Read each part under a heading with its name, of that level.

    Its warnings tell which part was not read and why, and what reading the others warned of.
    """
    texts: list[str] = []
    warnings: list[str] = []
    again = False
    with _deeper() as budget:
        for part in parts:
            try:
                text, told = _section(part, budget)
            except UnreadableError as error:
                warnings.append(f"{part.name}: {error}")
                again = again or error.retryable
                continue
            texts.append(f"{heading(level, part.name)}\n\n{text}")
            warnings += (f"{part.name}: {warning}" for warning in told)
    return Sections("\n\n".join(texts), _bounded(warnings), again=again)


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
    left = budget.text
    document = read_document(one_line(part.name), data)
    budget.text = min(budget.text, left - len(document.page_content))
    if budget.text < 0:
        raise UnreadableError(_TOO_MUCH)
    return document.page_content, document.metadata["warnings"]


def _bounded(warnings: list[str]) -> tuple[str, ...]:
    left = len(warnings) - _MAX_WARNINGS
    more = (f"and {left} more such files",) if left > 0 else ()
    return (*warnings[:_MAX_WARNINGS], *more)
