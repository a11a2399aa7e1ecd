"""The Retry-After header of a response (RFC 9110, section 10.2.3)."""

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


def retry_after_s(header: str) -> float | None:
    """Seconds to wait, at least 0, from the header's number or date; None if it has neither."""
    if re.fullmatch("[0-9]+", header.strip()):
        return float(header)
    try:
        moment = parsedate_to_datetime(header)
    except (ValueError, OverflowError):
        return None
    if moment.tzinfo is None:  # "-0000": UTC, local time zone unknown
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
