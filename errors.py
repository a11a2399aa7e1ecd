"""Errors whose message is for the person: what failed, and what to do next."""

from collections.abc import Sequence


class AppError(Exception):
    """Base of everything a face (page, command line, API) catches and shows.

    `retryable` says whether the same call may succeed later without any change.
    """

    retryable = False


class ConfigError(AppError):
    """A setting is missing or wrong; the message names it."""


class InputError(AppError):
    """What the person gave can't be used: an empty question, an unknown search mode."""


class ConflictError(InputError):
    """What the person gave is well formed, but not for the library as it is, or not together.

    A source that is not there, two dates of which the later comes first, a reranker that is not
    set. With other things in the library, or other settings, the same may be right.
    """


class SourceError(AppError):
    """A source can't be listed or read."""


class UnreadableError(SourceError):
    """One document can't be read; the message is the reason shown beside its name."""


class NothingToReadError(UnreadableError):
    """A document has no text, and nothing is wrong with that: a photograph, an emptied page."""


class UnreadableNowError(UnreadableError):
    """One document could not be read this time; the next import tries it again."""

    retryable = True


class SourceUnavailableError(SourceError):
    """A source can't be reached now, as a whole; what is at work on it goes on later.

    `retry_after_s` is how long the source asked to be left alone, 0 where it did not say.
    """

    retryable = True

    def __init__(self, message: str, *, retry_after_s: float = 0) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class ModelError(AppError):
    """A model refused or failed."""


class ModelUnavailableError(ModelError):
    """A model can't be reached, is overloaded or broke off."""

    retryable = True


class StorageError(AppError):
    """The data folder can't be read or written."""


class DamagedLedgerError(StorageError):
    """The ledger is damaged or holds what can't be read; nobody should write to it any more.

    `findings` are what a check found, one line each.
    """

    def __init__(self, message: str, findings: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.findings = tuple(findings)


class DamagedIndexError(StorageError):
    """One of an index's two stores can't be read; the message says which, and how to rebuild it."""


class BusyError(StorageError):
    """Another process is writing to the data folder."""

    retryable = True


class NotFoundError(AppError):
    """There is no such conversation, document or source (for this person)."""
