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
    dtype = getattr(value, "dtype", None)
    if dtype is None or not hasattr(value, "tolist"):
        return value
    return _stored_times(value) if getattr(dtype, "kind", "") == "M" else value.tolist()


def _stored_times(value: Any) -> Any:
    """The texts of dates or times of numpy; None for those that are missing (NaT)."""
    has_dates = value.dtype == "datetime64[D]"
    # Nanoseconds would become plain numbers.
    plain = value.tolist() if has_dates else value.astype("datetime64[us]").tolist()
    return list(map(stored_value, plain)) if isinstance(plain, list) else stored_value(plain)
