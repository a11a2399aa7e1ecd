"""Each session has a language, in which dates, ages, and numbers are formatted."""

from datetime import UTC, date, datetime, timedelta

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from ui.text import reader_language

NOW = datetime(2026, 11, 21, 16, 5, tzinfo=UTC)


@pytest.fixture
def set_session(monkeypatch):
    """Sets the language and time zone of the session."""

    def set_language_and_timezone(language, timezone="UTC"):
        state = {reader_language.LANGUAGE: language, reader_language.TIMEZONE: timezone}
        monkeypatch.setattr(st, "session_state", state)

    return set_language_and_timezone


@pytest.mark.parametrize(
    ("locale", "language"),
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
def test_an_unsupported_language_of_the_browser_becomes_english(locale, language):
    assert reader_language.language_of(locale) == language


@pytest.mark.parametrize(
    ("language", "age", "text"),
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
def test_an_age_has_one_unit_and_is_in_days_for_two_months(set_session, language, age, text):
    set_session(language)
    assert reader_language.ago(NOW - age, NOW) == text


@pytest.mark.parametrize(("language", "order"), [("en", "ECJK"), ("ko", "KECJ"), ("ja", "JECK")])
def test_questions_in_the_language_of_the_session_come_first(set_session, language, order):
    questions = {
        "E": "Who approves travel?",
        "C": "What is a day off?",
        "J": "休暇は何日ですか？",
        "K": "휴가는 며칠인가요?",
    }
    set_session(language)
    ordered = reader_language.own_language_first(questions.values())
    assert ordered == [questions[letter] for letter in order]


def test_an_age_counts_from_now(set_session):
    set_session("en")
    assert reader_language.ago(datetime.now(UTC) - timedelta(hours=2, minutes=1)) == "2 hours ago"


@pytest.mark.parametrize(
    ("language", "text"), [("en", "4 Mar 2026"), ("ko", "2026. 3. 4."), ("ja", "2026/03/04")]
)
def test_a_date_is_formatted_for_the_language(set_session, language, text):
    set_session(language)
    assert reader_language.day(date(2026, 3, 4)) == text


def test_a_time_is_converted_to_the_time_zone_of_the_reader(set_session):
    set_session("ko", "Asia/Seoul")
    assert reader_language.day(NOW) == "2026. 11. 22."
    assert reader_language.day_and_time(NOW) == "2026. 11. 22. 01:05"
    assert reader_language.day_and_time(NOW, seconds=True) == "2026. 11. 22. 01:05:00"


@pytest.mark.parametrize("timezone", [None, "", "Nowhere/Atlantis", "../etc/passwd"])
def test_without_a_known_time_zone_times_are_in_utc(set_session, timezone):
    set_session("en", timezone)
    assert reader_language.day_and_time(NOW) == "21 Nov 2026, 16:05"


def test_a_duration_has_a_suitable_unit(set_session):
    set_session("en")
    assert reader_language.duration(90) == "90 seconds"
    assert reader_language.duration(185) == "3 minutes"
    set_session("ja")
    assert reader_language.duration(185) == "3 分"


def test_a_number_has_thousands_separators(set_session):
    set_session("ko")
    assert reader_language.number(1234567) == "1,234,567"
    assert reader_language.number(0.12345) == "0.123"


def settle_language_of_page():
    from ui.text.reader_language import settle_language

    settle_language()


@pytest.mark.parametrize(("setting", "language"), [("ko", "ko"), ("en", "en"), ("auto", "en")])
def test_the_setting_overrides_the_browser_unless_it_is_auto(monkeypatch, setting, language):
    monkeypatch.setenv("FOOTNOTE_LANGUAGE", setting)
    page = AppTest.from_function(settle_language_of_page, default_timeout=20)
    page.run()  # without a browser, so English
    assert page.session_state[reader_language.LANGUAGE] == language


def test_an_invalid_setting_falls_back_to_the_browser_without_an_exception(monkeypatch):
    monkeypatch.setenv("FOOTNOTE_LANGUAGE", "klingon")
    page = AppTest.from_function(settle_language_of_page, default_timeout=20).run()
    assert not page.exception
    assert page.session_state[reader_language.LANGUAGE] == "en"
