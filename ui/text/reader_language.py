"""The reader's language, and dates, ages, and numbers formatted in it."""

from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import streamlit as st

import bootstrap
from domain.errors import AppError
from domain.language.script import answer_language

ENGLISH = "en"
LOCALES = {ENGLISH: "en_GB", "ko": "ko_KR", "ja": "ja_JP"}
ANSWER_LANGUAGES = {ENGLISH: "english", "ko": "korean", "ja": "japanese"}
LANGUAGE, TIMEZONE = "language", "timezone"  # keys of the session state
DAYS_COUNTED = timedelta(days=60)  # "34 days ago" is more precise than "1 month ago"


def settle_language() -> str:
    """Set the session's language (`en`, `ko`, or `ja`): the configured one, or the browser's.

    Call it once per run of a page; reading the browser's locale for every text would be slow.
    """
    setting = "auto"
    with suppress(AppError):  # the page reports the error when it opens the services
        setting = bootstrap.interface_language()
    selected = language_of(st.context.locale) if setting == "auto" else setting
    st.session_state[LANGUAGE] = selected
    st.session_state[TIMEZONE] = st.context.timezone
    return selected


def language() -> str:
    """The session's language; English before it is determined, and outside a page."""
    selected: str = st.session_state.get(LANGUAGE, ENGLISH)
    return selected


def language_of(locale: str | None) -> str:
    """The language of a browser's locale such as `ko-KR`; English if it is not supported."""
    code = (locale or "").replace("_", "-").split("-")[0].lower()
    return code if code in LOCALES else ENGLISH


def own_language_first(questions: Iterable[str]) -> list[str]:
    """The questions, those in the session's language first, otherwise in the same order."""
    own = ANSWER_LANGUAGES[language()]
    return sorted(questions, key=lambda question: answer_language(question) != own)


def now() -> datetime:
    """The current time in the reader's time zone."""
    return datetime.now(_timezone())


def here(moment: datetime) -> datetime:
    """The time in the reader's time zone."""
    return moment.astimezone(_timezone())


def ago(moment: datetime, now: datetime | None = None) -> str:
    """A relative time, rounded to one unit: `5 minutes ago`, `34 days ago`, `2 months ago`.

    A future time is `in 5 minutes`.
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
    """A duration, rounded to one unit: `90 seconds`, `3 minutes`."""
    from babel.dates import format_timedelta

    return format_timedelta(timedelta(seconds=seconds), threshold=2, locale=_locale())


def day(moment: date) -> str:
    """The date, that of a time in the reader's time zone: `4 Mar 2026`."""
    from babel.dates import format_date

    local = here(moment) if isinstance(moment, datetime) else moment
    return format_date(local, "medium", locale=_locale())


def time_of_day(moment: datetime, *, seconds: bool = False) -> str:
    """The time in the reader's time zone: `16:05`, or with seconds `16:05:07`."""
    from babel.dates import format_time

    pattern = "HH:mm:ss" if seconds else "HH:mm"
    return format_time(moment, pattern, tzinfo=_timezone(), locale=_locale())


def day_and_time(moment: datetime, *, seconds: bool = False) -> str:
    """The date and time in the reader's time zone: `4 Mar 2026, 16:05`."""
    from babel.dates import get_datetime_format

    pattern = str(get_datetime_format("medium", locale=_locale()))  # "{1}, {0}"
    return pattern.format(time_of_day(moment, seconds=seconds), day(moment))


def table_format() -> str:
    """The format of `day_and_time` in the syntax of Moment.js: `D MMM YYYY, HH:mm`."""
    from babel.dates import get_date_format, get_datetime_format

    date = str(get_date_format("medium", locale=_locale()))  # "d MMM y"
    pattern = str(get_datetime_format("medium", locale=_locale()))
    return pattern.format("HH:mm", date.replace("d", "D").replace("y", "YYYY"))


def number(n: float) -> str:
    """The number with thousands separators and at most three decimals."""
    from babel.numbers import format_decimal

    return format_decimal(n, locale=_locale())


def _locale() -> str:
    return LOCALES[language()]


def _timezone() -> tzinfo:
    """The browser's time zone; UTC if it is missing or unknown on this machine."""
    try:
        return ZoneInfo(st.session_state.get(TIMEZONE) or "UTC")
    except (ZoneInfoNotFoundError, ValueError):
        return UTC
