"""The Retry-After header of a response (RFC 9110, section 10.2.3)."""

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

MAX_S = 365 * 24 * 3600.0


def retry_after_s(header: str) -> float | None:
    """Seconds to wait, from the header's number or date; None if it has neither.

    The result is between 0 and a year. Decimals are accepted, although the standard has none.
    """
    if re.fullmatch(r"[0-9]+(\.[0-9]+)?", header.strip()):
        return min(float(header), MAX_S)
    try:
        moment = parsedate_to_datetime(header)
    except (ValueError, OverflowError):
        return None
    if moment.tzinfo is None:  # "-0000": UTC, local time zone unknown
        moment = moment.replace(tzinfo=UTC)
    return min(max(0.0, (moment - datetime.now(UTC)).total_seconds()), MAX_S)
