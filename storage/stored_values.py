"""Values of metadata in the form in which they are stored as JSON, and in which filters compare."""

from datetime import UTC, date, datetime
from typing import Any


def stored_value(value: Any) -> Any:
    """A date or time as ISO 8601 text, a value of numpy as a plain one; other values unchanged.

    A time with a zone becomes one in UTC, so that the order of the texts is chronological; one
    without a zone keeps its digits.
    """
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC).isoformat()
    if isinstance(value, date):  # a datetime is a date
        return value.isoformat()
    if not hasattr(value, "tolist"):
        return value
    is_time = getattr(value.dtype, "kind", "") == "M"  # as a plain value, it may be a number
    return str(value) if is_time else value.tolist()
