"""What a page says of what was just done."""

import pytest

from ui.shared import frame
from ui.shared.frame import Notices


@pytest.fixture
def clock(monkeypatch):
    """The time in seconds, to be set."""
    now = [0.0]
    monkeypatch.setattr(frame.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(frame.st, "session_state", {})
    return now


def test_lines_stay_for_some_seconds_on_their_own_page(clock):
    Notices("a").say("Saved.", "One was refused.")
    clock[0] = frame.NOTICE_S - 1
    assert Notices("a").lines() == ["Saved.", "One was refused."]
    assert Notices("b").lines() == []
    clock[0] = frame.NOTICE_S
    assert Notices("a").lines() == []


def test_another_line_joins_those_that_are_said(clock):
    Notices("a").say("Added.")
    clock[0] = 1
    Notices("a").say("One was refused.")
    assert Notices("a").lines() == ["Added.", "One was refused."]


def test_what_is_forgotten_is_said_no_more(clock):
    Notices("a").say("Added.")
    Notices("a").forget()
    assert Notices("a").lines() == []
