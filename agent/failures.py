"""What goes wrong in a tool, as the model is told it: never raised out of an agent."""

import logging
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from langchain_core.tools import ToolException
from pydantic import ValidationError
from pydantic.v1 import ValidationError as OldValidationError

from agent.tool_arguments import NOT_BLANK
from errors import AppError

P = ParamSpec("P")
R = TypeVar("R")

_log = logging.getLogger(__name__)


def telling_failures(work: Callable[P, R]) -> Callable[P, R]:
    """The function, raising only ToolException, whose text is for the model.

    What is not an error for people is logged.
    """

    @wraps(work)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return work(*args, **kwargs)
        except Exception as error:
            raise ToolException(reason_of(error, work.__name__)) from error

    return guarded


def reason_of(error: Exception, tool: str) -> str:
    """Why a tool failed, for the model; what nobody expected is logged and only named."""
    if isinstance(error, AppError | ToolException):
        return str(error)
    _log.error("The tool %s failed", tool, exc_info=error)
    return f"{tool} met an unexpected error ({type(error).__name__}); the log has the rest."


def failed(reason: object) -> str:
    """The text of a tool message with status "error"."""
    return f"Failed: {reason}"


def wrong_arguments(error: ValidationError | OldValidationError) -> str:
    """The text of a tool message for arguments that the tool does not take."""
    told = "; ".join(
        f"{'.'.join(map(str, one['loc'])) or 'arguments'}: {_told(one)}" for one in error.errors()
    )
    return failed(f"{told}. Call the tool again with other arguments.")


def _told(wrong: Any) -> str:
    is_blank = wrong.get("ctx", {}).get("pattern") == NOT_BLANK
    return "It is empty or blank" if is_blank else str(wrong["msg"])
