"""Notices about the last actions on a page."""

import pytest

from ui.shared import frame
from ui.shared.frame import Notices


@pytest.fixture
def clock(monkeypatch):
    """The current time in seconds, as a list of one item that a test may change."""
    now = [0.0]
    monkeypatch.setattr(frame.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(frame.st, "session_state", {})
    return now


def test_notices_stay_for_some_seconds_on_their_own_page(clock):
    Notices("a").say("Saved.", "One was refused.")
    clock[0] = frame.NOTICE_S - 1
    assert Notices("a").lines() == ["Saved.", "One was refused."]
    assert Notices("b").lines() == []
    clock[0] = frame.NOTICE_S
    assert Notices("a").lines() == []


def test_a_new_notice_is_added_to_the_visible_ones(clock):
    Notices("a").say("Added.")
    clock[0] = 1
    Notices("a").say("One was refused.")
    assert Notices("a").lines() == ["Added.", "One was refused."]


def test_cleared_notices_disappear(clock):
    Notices("a").say("Added.")
    Notices("a").forget()
    assert Notices("a").lines() == []
