"""The titles of the sidebar's rows."""

from datetime import UTC, datetime

import pytest

from domain import Conversation
from ui.chat import conversation_list


def conversation(id_: str, created_at: datetime) -> Conversation:
    return Conversation(id_, "local", "Why?", created_at, created_at)


@pytest.fixture
def row_titles(monkeypatch: pytest.MonkeyPatch):
    now = datetime(2026, 3, 4, 18, tzinfo=UTC)
    monkeypatch.setattr(conversation_list, "now", lambda: now)

    def row_titles(*moments: datetime) -> list[str]:
        rows = [conversation(f"{n}bcdef", moment) for n, moment in enumerate(moments)]
        return list(conversation_list._row_titles(rows).values())

    return row_titles


def test_a_single_title_is_not_changed(row_titles) -> None:
    assert row_titles(datetime(2026, 3, 4, 16, 5, tzinfo=UTC)) == ["Why?"]


def test_equal_titles_show_when_they_were_started_as_exactly_as_needed(row_titles) -> None:
    five, six = datetime(2026, 3, 4, 16, 5, 7, tzinfo=UTC), datetime(2026, 3, 4, 16, 6, tzinfo=UTC)
    later = five.replace(second=30)
    assert row_titles(five, six) == ["Why? 16:05", "Why? 16:06"]
    assert row_titles(five, later, six) == ["Why? 16:05:07", "Why? 16:05:30", "Why? 16:06"]
    assert row_titles(five, five) == ["Why? 16:05:07 0bcd", "Why? 16:05:07 1bcd"]


def test_the_date_is_shown_for_other_days(row_titles) -> None:
    today, yesterday = datetime(2026, 3, 4, 9, tzinfo=UTC), datetime(2026, 3, 3, 9, tzinfo=UTC)
    assert row_titles(today, yesterday) == ["Why? 09:00", "Why? 3 Mar 2026, 09:00"]
    assert row_titles(yesterday, yesterday) == ["Why? 09:00:00 0bcd", "Why? 09:00:00 1bcd"]
