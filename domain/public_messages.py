"""What readers and API clients learn about an error."""

from domain.errors import AppError
from domain.logs import get_logger

_log = get_logger("storage")


def message_for_everyone(error: AppError) -> str:
    """`readers_message`; if the message of the error is another one, the log gets that."""
    if error.public_message:
        _log.warning("storage failed", reason=str(error))
    return error.readers_message
