"""What a page says of what was just done."""

import pytest

from ui import told
from ui.told import Told


@pytest.fixture
def clock(monkeypatch):
    """The time in seconds, to be set."""
    now = [0.0]
    monkeypatch.setattr(told.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(told.st, "session_state", {})
    return now


def test_lines_stay_for_some_seconds_on_their_own_page(clock):
    Told("a").say("Saved.", "One was refused.")
    clock[0] = told.SHOWN_S - 1
    assert Told("a").lines() == ["Saved.", "One was refused."]
    assert Told("b").lines() == []
    clock[0] = told.SHOWN_S
    assert Told("a").lines() == []


def test_another_line_joins_those_that_are_said(clock):
    Told("a").say("Added.")
    clock[0] = 1
    Told("a").say("One was refused.")
    assert Told("a").lines() == ["Added.", "One was refused."]


def test_what_is_forgotten_is_said_no_more(clock):
    Told("a").say("Added.")
    Told("a").forget()
    assert Told("a").lines() == []
