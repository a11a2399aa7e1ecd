"""Errors whose messages tell users what failed and what to do next."""

from collections.abc import Sequence


class AppError(Exception):
    """Base of all errors that pages, commands, and the API catch and show.

    `retryable` is True if the same call may succeed later without any change. `public_message` is
    for readers and API clients if the message names a server or its user, and "" otherwise.
    """

    retryable = False
    public_message = ""

    @property
    def readers_message(self) -> str:
        """The message for readers and API clients."""
        return self.public_message or str(self)


class ConfigError(AppError):
    """A setting is missing or invalid; the message names it."""


class InputError(AppError):
    """The input is invalid, such as an empty question or an unknown search mode."""


class ConflictError(InputError):
    """The input is well formed, but conflicts with the library, the settings, or itself.

    Examples are a missing source, an end date before the start date, a reranker that is not
    configured.
    """


class ForbiddenError(AppError):
    """The principal's role does not permit the call; the message names the necessary role."""


class LimitError(AppError):
    """A person has reached a limit; the message names it, and `retry_after_s` says when to retry.

    After that many seconds, the same call is within the limit.
    """

    retryable = True

    def __init__(self, message: str, *, retry_after_s: float) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class SignInError(AppError):
    """A sign-in is not accepted, or no longer; the message says why and what to do."""


class SignInUnavailableError(SignInError):
    """A sign-in can't be checked now, because the provider can't be reached."""

    retryable = True


class ModelOptionError(InputError):
    """An option for the chat model is invalid or not supported; `param` is its field."""

    def __init__(self, message: str, param: str) -> None:
        super().__init__(message)
        self.param = param


class SourceError(AppError):
    """A source can't be listed or read."""


class UnreadableError(SourceError):
    """One document can't be read; the message is the reason shown beside its name."""


class NothingToReadError(UnreadableError):
    """A document has no text and need not have any, such as a photograph or an empty page."""


class TemporarilyUnreadableError(UnreadableError):
    """One document can't be read now; the next import retries it."""

    retryable = True


class SourceUnavailableError(SourceError):
    """A source as a whole can't be reached now; its import is resumed later.

    `retry_after_s` is the delay that the source requested (Retry-After), or 0.
    """

    retryable = True

    def __init__(self, message: str, *, retry_after_s: float = 0) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class ForbiddenAddressError(SourceUnavailableError):
    """A server must not be connected to: it is not on the public internet, or its name is unknown.

    Both look the same, so that nobody learns which private names exist. Imports are resumed later,
    because a name is also unknown while the network is down.
    """

    retryable = False


class ModelError(AppError):
    """A model refused or failed."""


class RequestRejectedError(ModelError):
    """A model's server considers the request invalid or does not support it."""


class ContextOverflowError(ModelError):
    """The prompt, or the prompt with its answer, is too long for the model's context."""


class ModelUnavailableError(ModelError):
    """A model can't be reached, is overloaded or aborted its response."""

    retryable = True


class StorageError(AppError):
    """The data folder can't be read or written."""


class DamagedLedgerError(StorageError):
    """The ledger is damaged or unreadable and must no longer be written to.

    `findings` are those of a check, one line each.
    """

    def __init__(self, message: str, findings: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.findings = tuple(findings)


class DamagedIndexError(StorageError):
    """An index or one of its embedded stores is damaged; the message says how to rebuild it."""


class BusyError(StorageError):
    """Another process is writing to the data folder."""

    retryable = True


class StorageUnavailableError(StorageError):
    """A search or database server can't be reached now; an import is resumed later.

    `retry_after_s` is 0: servers do not request a delay.
    """

    retryable = True
    retry_after_s = 0.0


class NotFoundError(AppError):
    """No such conversation, document, or source exists, or the user may not access it."""
