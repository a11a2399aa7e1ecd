"""The reader's language: which it is, and how it writes dates, ages and numbers."""

from contextlib import suppress
from datetime import UTC, date, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import streamlit as st

import bootstrap
from errors import ConfigError

ENGLISH = "en"
LOCALES = {ENGLISH: "en_GB", "ko": "ko_KR", "ja": "ja_JP"}
LANGUAGE, TIMEZONE = "language", "timezone"  # in the session
DAYS_COUNTED = timedelta(days=60)  # "34 days ago" tells more than "1 month ago"


def settle_language() -> str:
    """Settle the session's language, `en`, `ko` or `ja`: the setting's, else the browser's.

    Once in each run of a page: asking the browser for every text would take longer than the rest.
    """
    setting = "auto"
    with suppress(ConfigError):  # the page says it, as soon as it wants the services
        setting = bootstrap.interface_language()
    chosen = language_of(st.context.locale) if setting == "auto" else setting
    st.session_state[LANGUAGE] = chosen
    st.session_state[TIMEZONE] = st.context.timezone
    return chosen


def language() -> str:
    """The session's language; English before it is settled and outside of a page."""
    chosen: str = st.session_state.get(LANGUAGE, ENGLISH)
    return chosen


def language_of(locale: str | None) -> str:
    """The language of a browser's locale such as `ko-KR`; English where we don't speak it."""
    spoken = (locale or "").replace("_", "-").split("-")[0].lower()
    return spoken if spoken in LOCALES else ENGLISH


def now() -> datetime:
    """The time where the reader is."""
    return datetime.now(_timezone())


def here(moment: datetime) -> datetime:
    """The moment by the reader's clock."""
    return moment.astimezone(_timezone())


def ago(moment: datetime, now: datetime | None = None) -> str:
    """How long ago, in one unit and rounded: `5 minutes ago`, `34 days ago`, `2 months ago`.

    What is still to come is `in 5 minutes`.
    """
    from babel.dates import format_timedelta

    past = (now or datetime.now(UTC)) - moment or timedelta(seconds=1)
    in_days = timedelta(days=1) <= past < DAYS_COUNTED
    return format_timedelta(
        -past,
        granularity="day" if in_days else "second",
        threshold=DAYS_COUNTED.days if in_days else 0.85,
        add_direction=True,
        locale=_locale(),
    )


def duration(seconds: float) -> str:
    """A stretch of time in one unit, rounded: `90 seconds`, `3 minutes`."""
    from babel.dates import format_timedelta

    return format_timedelta(timedelta(seconds=seconds), threshold=2, locale=_locale())


def day(moment: date) -> str:
    """The day as a date; of a moment, the day it was where the reader is: `4 Mar 2026`."""
    from babel.dates import format_date

    local = here(moment) if isinstance(moment, datetime) else moment
    return format_date(local, "medium", locale=_locale())


def day_and_time(moment: datetime) -> str:
    """The date and the time of day where the reader is: `4 Mar 2026, 16:05`."""
    from babel.dates import format_time, get_datetime_format

    time = format_time(moment, "HH:mm", tzinfo=_timezone(), locale=_locale())
    pattern = str(get_datetime_format("medium", locale=_locale()))  # "{1}, {0}"
    return pattern.format(time, day(moment))


def table_format() -> str:
    """How `day_and_time` writes, in Moment.js's letters: `D MMM YYYY, HH:mm`."""
    from babel.dates import get_date_format, get_datetime_format

    date = str(get_date_format("medium", locale=_locale()))  # "d MMM y"
    pattern = str(get_datetime_format("medium", locale=_locale()))
    return pattern.format("HH:mm", date.replace("d", "D").replace("y", "YYYY"))


def number(n: float) -> str:
    """The number with its thousands apart, and at most three decimals."""
    from babel.numbers import format_decimal

    return format_decimal(n, locale=_locale())


def _locale() -> str:
    return LOCALES[language()]


def _timezone() -> tzinfo:
    """The browser's; UTC where it tells none that this machine knows."""
    try:
        return ZoneInfo(st.session_state.get(TIMEZONE) or "UTC")
    except (ZoneInfoNotFoundError, ValueError):
        return UTC
