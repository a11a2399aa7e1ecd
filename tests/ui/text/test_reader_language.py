"""Each session has a language; dates, ages and numbers are written as it writes them."""

from datetime import UTC, date, datetime, timedelta

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from ui.text import reader_language

NOW = datetime(2026, 11, 21, 16, 5, tzinfo=UTC)


@pytest.fixture
def speak(monkeypatch):
    """Puts the session's language and time zone in place."""

    def settle(spoken, timezone="UTC"):
        state = {reader_language.LANGUAGE: spoken, reader_language.TIMEZONE: timezone}
        monkeypatch.setattr(st, "session_state", state)

    return settle


@pytest.mark.parametrize(
    ("locale", "spoken"),
    [
        ("ko-KR", "ko"),
        ("ja", "ja"),
        ("JA_jp", "ja"),
        ("en-US", "en"),
        ("fr-FR", "en"),
        ("kok-IN", "en"),  # Konkani, not Korean
        ("", "en"),
        (None, "en"),
    ],
)
def test_a_browser_that_speaks_none_of_ours_gets_english(locale, spoken):
    assert reader_language.language_of(locale) == spoken


@pytest.mark.parametrize(
    ("spoken", "past", "told"),
    [
        ("en", timedelta(minutes=5), "5 minutes ago"),
        ("en", timedelta(days=34), "34 days ago"),
        ("en", timedelta(days=70), "2 months ago"),
        ("en", timedelta(), "1 second ago"),
        ("en", timedelta(minutes=-5), "in 5 minutes"),
        ("ko", timedelta(days=34), "34일 전"),
        ("ja", timedelta(hours=3), "3 時間前"),
    ],
)
def test_an_age_is_told_in_one_unit_and_days_are_counted_for_two_months(speak, spoken, past, told):
    speak(spoken)
    assert reader_language.ago(NOW - past, NOW) == told


def test_an_age_counts_from_now(speak):
    speak("en")
    assert reader_language.ago(datetime.now(UTC) - timedelta(hours=2, minutes=1)) == "2 hours ago"


@pytest.mark.parametrize(
    ("spoken", "told"), [("en", "4 Mar 2026"), ("ko", "2026. 3. 4."), ("ja", "2026/03/04")]
)
def test_a_day_is_written_as_the_language_writes_it(speak, spoken, told):
    speak(spoken)
    assert reader_language.day(date(2026, 3, 4)) == told


def test_a_moment_falls_on_the_day_it_was_where_the_reader_is(speak):
    speak("ko", "Asia/Seoul")
    assert reader_language.day(NOW) == "2026. 11. 22."
    assert reader_language.day_and_time(NOW) == "2026. 11. 22. 01:05"


@pytest.mark.parametrize("timezone", [None, "", "Nowhere/Atlantis", "../etc/passwd"])
def test_without_a_known_time_zone_moments_are_told_in_utc(speak, timezone):
    speak("en", timezone)
    assert reader_language.day_and_time(NOW) == "21 Nov 2026, 16:05"


def test_a_stretch_of_time_is_told_in_the_unit_that_fits(speak):
    speak("en")
    assert reader_language.duration(90) == "90 seconds"
    assert reader_language.duration(185) == "3 minutes"
    speak("ja")
    assert reader_language.duration(185) == "3 分"


def test_a_number_has_its_thousands_apart(speak):
    speak("ko")
    assert reader_language.number(1234567) == "1,234,567"
    assert reader_language.number(0.12345) == "0.123"


def settled():
    from ui.text.reader_language import settle_language

    settle_language()


@pytest.mark.parametrize(("setting", "spoken"), [("ko", "ko"), ("en", "en"), ("auto", "en")])
def test_the_setting_decides_unless_it_leaves_it_to_the_browser(monkeypatch, setting, spoken):
    monkeypatch.setenv("FOOTNOTE_LANGUAGE", setting)
    page = AppTest.from_function(settled).run()  # without a browser, so English
    assert page.session_state[reader_language.LANGUAGE] == spoken


def test_wrong_settings_leave_it_to_the_browser_until_a_page_tells_of_them(monkeypatch):
    monkeypatch.setenv("FOOTNOTE_LANGUAGE", "klingon")
    page = AppTest.from_function(settled).run()
    assert not page.exception
    assert page.session_state[reader_language.LANGUAGE] == "en"
