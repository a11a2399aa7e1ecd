"""What readers and API clients learn about an error."""

from domain.errors import AppError
from domain.logs import get_logger

_log = get_logger("storage")


def message_for_everyone(error: AppError) -> str:
    """The public message of an error; if it is another one, the log gets the details."""
    if error.public_message:
        _log.warning("storage failed", reason=str(error))
    return error.public_message or str(error)
