"""Structured logs on stderr, as text or JSON, with correlation ids and without secrets.

    _log = get_logger("imports")
    with log_context(import_id=run.id):
        _log.info("import finished", documents=12, ms=380)

All lines go through the standard library's logging, which uvicorn, LangChain, and the clients of
sources also use, so one handler redacts and formats them all. structlog was tried and rejected: it
would need the same handler and formatter for the lines of those libraries, and importing it takes
0.24 s, a sixth of the run time of `cli.py ask`.
"""

import json
import logging
import re
import sys
import time
import uuid
from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from contextvars import Context, ContextVar, copy_context
from dataclasses import dataclass
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Literal, TextIO, TypeVar
from urllib.parse import quote, urlsplit

HIDDEN = "***"
_MIN_CHARS = 6
"""Shorter secrets are not redacted, because keys such as `none` would hide ordinary words."""

_NAME = (
    r"(?:token|secret|password|passwd|passphrase|api[_-]?key|private[_-]?key|access[_-]?key"
    r"|encryption[_-]?key|signature|credentials?)"
)
_SECRET_NAME = re.compile(rf"(?:{_NAME}|authorization|cookie)\Z", re.IGNORECASE)
_PATTERNS = [
    (re.compile(pattern, re.IGNORECASE), replacement)
    for pattern, replacement in (
        (r"(://)[^/?#\s\"'<>]*@", rf"\1{HIDDEN}@"),
        (r"\b((?:cookie|authorization)\b['\"]?\s*[:=]\s*)[^\r\n]+", rf"\1{HIDDEN}"),
        (r"\b(bearer)\s+[\w.~+/=-]{6,}", rf"\1 {HIDDEN}"),
        (r"([?&;](?:key|sig|code|auth|pass|pwd|sid|session)=)[^&#\s\"']+", rf"\1{HIDDEN}"),
        (rf"({_NAME}\b['\"]?\s*[:=]\s*)(?:\"[^\"]*\"|'[^']*'|[^\s&\"',;)}}]+)", rf"\1{HIDDEN}"),
        (r"\b(?:sk|fn|pk|xox[abp]|gh[ps])[-_][\w-]{16,}", HIDDEN),
        (r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?s:.*?)(?:-----END [A-Z ]*-----|$)", HIDDEN),
    )
]
_known: tuple[str, ...] = ()


def hide_secrets(secrets: Iterable[str]) -> None:
    """Redact these values from now on, including their percent-encoded and JSON-escaped forms."""
    global _known  # one tuple per process, replaced atomically
    values = {secret.strip() for secret in secrets}
    forms = {
        form
        for value in values
        if len(value) >= _MIN_CHARS
        for form in (
            value,
            quote(value),
            quote(value, safe=""),
            json.dumps(value)[1:-1],
            repr(value)[1:-1],
        )
    }
    if not forms <= set(_known):
        _known = (*sorted({*_known, *forms}, key=len, reverse=True),)


def url_password(url: str) -> str:
    """The password in a URL, or ""."""
    try:
        return urlsplit(url).password or ""
    except ValueError:  # not a URL; its user reports the error
        return ""


def redact(text: str) -> str:
    """Hide known secrets, URL credentials, and values of names that look like secrets."""
    for secret in _known:
        text = text.replace(secret, HIDDEN)
    for pattern, replacement in _PATTERNS:
        text = pattern.sub(replacement, text)
    return text


def redact_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Redact all texts in the fields, and hide fields whose names look like secrets."""
    return {
        redact(name): HIDDEN if _SECRET_NAME.search(name) else _redact_value(value)
        for name, value in fields.items()
    }


def _redact_value(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, Mapping):
        return redact_fields({str(name): item for name, item in value.items()})
    if isinstance(value, list | tuple | set | frozenset):
        return [_redact_value(item) for item in value]
    return redact(str(value))


LogFormat = Literal["text", "json"]
LogLevel = Literal["debug", "info", "warning", "error"]
T = TypeVar("T")
R = TypeVar("R")

PROGRAM = "footnote"
"""The root of the names of all loggers of the program."""
_STANDARD = ("exc_info", "stack_info", "stacklevel")
_NOTHING: Mapping[str, Any] = MappingProxyType({})
_context: ContextVar[Mapping[str, Any]] = ContextVar("log_context", default=_NOTHING)


class EventLogger(logging.LoggerAdapter[logging.Logger]):
    """A logger whose calls take the fields of an event as keyword arguments."""

    def process(
        self, msg: Any, kwargs: MutableMapping[str, Any]
    ) -> tuple[Any, MutableMapping[str, Any]]:
        """Move the fields into `extra`, where the formatter finds them."""
        standard = {name: kwargs[name] for name in _STANDARD if name in kwargs}
        fields = {name: value for name, value in kwargs.items() if name not in standard}
        return msg, {**standard, "extra": {"fields": fields}}


def get_logger(area: str) -> EventLogger:
    """The logger of a part of the program, such as `imports`; see docs/operations.md."""
    return EventLogger(logging.getLogger(f"{PROGRAM}.{area}"))


def new_id() -> str:
    """A random id for a request or a question."""
    return uuid.uuid4().hex


@contextmanager
def log_context(**fields: Any) -> Iterator[None]:
    """Add fields to all lines that are logged inside the block, including in called functions."""
    token = _context.set({**_context.get(), **fields})
    try:
        yield
    finally:
        _context.reset(token)


def context_fields() -> Mapping[str, Any]:
    """The fields that all lines get that are logged here; see `log_context`."""
    return _context.get()


def run_in_context(work: Generator[T, None, R], context: Context) -> Generator[T, None, R]:
    """Run each step of `work`, and its cleanup, in the given context.

    Otherwise, context variables that a generator sets would also be set for its consumer between
    items.
    """
    try:
        while True:
            try:
                item = context.run(next, work)
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]  # StopIteration.value is untyped
            yield item
    finally:
        context.run(work.close)


def with_log_context(work: Generator[T, None, R], **fields: Any) -> Generator[T, None, R]:
    """Add fields to all lines that a generator logs, but not to those of its consumer."""
    context = copy_context()
    context.run(_context.set, {**_context.get(), **fields})
    return (yield from run_in_context(work, context))


@dataclass
class OutgoingRequest:
    """A request to another server; `status` stays None if no response arrives."""

    status: int | None = None


@contextmanager
def outgoing_request(
    method: str, url: str, attempt: int | None = None, **fields: Any
) -> Iterator[OutgoingRequest]:
    """Log one request at debug when it ends; a streamed one ends with the response headers.

    The query is omitted because it contains users' search terms. `attempt` counts from 1; if
    None, it is taken from the log context.
    """
    request, began = OutgoingRequest(), time.perf_counter()
    try:
        yield request
    except BaseException as error:
        fields["error"] = type(error).__name__
        raise
    finally:
        parts = urlsplit(url)
        fields = {
            "method": method,
            "host": parts.netloc.rpartition("@")[2],
            "path": parts.path,
            "status": request.status,
            "ms": elapsed_ms(began),
            "attempt": attempt or _context.get().get("attempt", 1),
            **fields,
        }
        _requests.debug("outgoing request", **fields)


def elapsed_ms(began: float) -> float:
    """Milliseconds since `began`, a value of `time.perf_counter()`."""
    return milliseconds(time.perf_counter() - began)


def milliseconds(seconds: float) -> float:
    """A duration as a log line shows it, rounded to 0.1 ms."""
    return round(1000 * seconds, 1)


class StageTimes:
    """Adds up the times of stages; each stage lasts until the next one is entered."""

    def __init__(self, stage: str = "") -> None:
        """Start the clock and a stage; time in the stage "" counts only for the total."""
        self._began = self._since = time.perf_counter()
        self._stage = stage
        self._seconds: defaultdict[str, float] = defaultdict(float)

    def enter(self, stage: str) -> float:
        """Start a stage; returns the seconds spent in the one that it ends."""
        now = time.perf_counter()
        seconds = now - self._since
        if self._stage:
            self._seconds[self._stage] += seconds
        self._stage, self._since = stage, now
        return seconds

    def fields(self) -> dict[str, float]:
        """The fields of a log line for the stages that have ended: the total, then each of them."""
        stages = {f"{name}_ms": milliseconds(seconds) for name, seconds in self._seconds.items()}
        return {"total_ms": milliseconds(self._since - self._began), **stages}


def configure_logs(level: LogLevel, form: LogFormat, secrets: Iterable[str]) -> None:
    """Log to stderr from now on; a second call replaces the settings of the first.

    Lines of libraries are logged at `level` or warning, whichever is higher, and above.
    """
    hide_secrets(secrets)
    handler = _StderrHandler()
    handler.name = PROGRAM
    handler.setLevel(level.upper())
    handler.setFormatter(LogFormatter(as_json=form == "json"))
    root = logging.getLogger()
    for former in [one for one in root.handlers if one.name == PROGRAM]:
        root.removeHandler(former)
    root.addHandler(handler)
    program = logging.getLogger(PROGRAM)
    program.setLevel(min([handler.level, *(one.level for one in program.handlers)]))


class _StderrHandler(logging.StreamHandler[TextIO]):
    """Writes to the current `sys.stderr`, which servers and progress bars replace."""

    def __init__(self) -> None:
        logging.Handler.__init__(self)

    @property
    def stream(self) -> TextIO:  # type: ignore[override]  # an attribute in StreamHandler
        return sys.stderr


class LogFormatter(logging.Formatter):
    """Formats each event as one redacted line; in text, a traceback follows on separate lines."""

    def __init__(self, *, as_json: bool) -> None:
        super().__init__()
        self._as_json = as_json

    def format(self, record: logging.LogRecord) -> str:
        """The line for this record."""
        moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        head = {
            "time": moment.replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name.removeprefix(f"{PROGRAM}."),
            "event": redact(record.getMessage()),
        }
        fields = redact_fields({**_context.get(), **getattr(record, "fields", {})})
        trace = redact(self.formatException(record.exc_info)) if record.exc_info else ""
        if self._as_json:
            line = {**fields, **head, "pid": record.process}
            return json.dumps(head | line | ({"exception": trace} if trace else {}), default=str)
        event = " ".join(head["event"].splitlines())
        pairs = [f"{name}={_as_text(value)}" for name, value in fields.items() if value is not None]
        start = f"{head['time']} {head['level'].upper():7} {head['logger']}: {event}"
        return " ".join([start, *pairs]) + (f"\n{trace}" if trace else "")


def _as_text(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    is_plain = text.isprintable() and text and not set(text) & set(' "=')
    return text if is_plain or not isinstance(value, str) else json.dumps(text, ensure_ascii=False)


_requests = get_logger("requests")
