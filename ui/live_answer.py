"""An answer on the page while it is being written, with what is done for it."""

import time
from typing import TYPE_CHECKING

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from domain import Source, Step, StepState, Turn
from ui import words
from ui.activity import doing_html, working_html
from ui.html import answer_html
from ui.sources import plain_marker
from ui.steps import steps_html
from ui.turn_actions import show_actions

if TYPE_CHECKING:
    from services.turns import TurnService

REDRAW_S = 0.05


class LiveAnswer:
    """The answer while it is being written, redrawn at most every `REDRAW_S` seconds."""

    def __init__(self, turns: "TurnService") -> None:
        """Draw that the search has begun; to be made where the answer is to stand."""
        self._turns = turns
        self._steps = _LiveSteps(st.container(key="live-steps"))
        self._activity, self._body = st.empty(), st.empty()
        self.problems, self._actions = st.container(), st.container(key="live-actions")
        self._question, self._text = "", ""
        self._by_agent = False
        self._sources: tuple[Source, ...] = ()
        self._drawn_at = 0.0
        self._activity.html(working_html())
        self.draw(stoppable=True)

    def begin(self, turn: Turn) -> None:
        """Draw what can be done once it was stopped or failed: then nothing can be drawn.

        The style sheet shows it as soon as the script no longer runs.
        """
        self._by_agent = turn.search.by_agent
        if self._by_agent:
            self._activity.html(doing_html(words.DECIDING))
        with self._actions:
            show_actions(self._turns, turn)

    def wait(self) -> None:
        """Draw the same again now and then: a script can be stopped only where it draws."""
        if time.monotonic() - self._drawn_at > REDRAW_S:
            self._drawn_at = time.monotonic()
            self.draw(stoppable=True)

    def search(self, question: str) -> None:
        """Draw what is searched for."""
        self._question = question
        self._activity.html(working_html(question))

    def step(self, step: Step) -> None:
        """Draw the step, as it begins and as it is done; text before it was no answer."""
        self._steps.take(step)
        self._steps.draw(self._sources)
        if self._steps.are_running:
            self._activity.empty()  # they say themselves what is done
        else:
            self._activity.html(doing_html(words.DECIDING))
        if step.state is StepState.RUNNING:
            self._text = ""
            self.draw(stoppable=True)

    def find(self, sources: tuple[Source, ...]) -> None:
        """Draw what was found: beside its step, or as what is read now."""
        self._sources = sources
        self._steps.draw(sources)
        if not self._by_agent:
            self._activity.html(working_html(self._question, sources))

    def write(self, text: str) -> None:
        """Draw more of the answer."""
        if not self._text:
            self._activity.html(self._answering())
        self._text += text
        self.wait()

    def _answering(self) -> str:
        if self._by_agent or not self._question:  # a greeting is answered without a search
            return doing_html(words.ANSWERING)
        return working_html(self._question, self._sources, answering=True)

    def draw(self, *, stoppable: bool = False) -> None:
        """Draw the text so far.

        Once the reader has pressed stop nothing more can be drawn, so the note about it is
        drawn beforehand, and the style sheet shows it as soon as the script no longer runs.
        """
        note = f'<div class="fn-notice fn-stopped">{words.STOPPED}</div>' if stoppable else ""
        self._body.html(answer_html(self._text, plain_marker(self._sources)) + note)


class _LiveSteps:
    """The steps so far. Each has a place of its own: what is unfolded in one stays so."""

    def __init__(self, place: DeltaGenerator) -> None:
        self._place = place
        self._steps: dict[int, Step] = {}
        self._places: dict[int, DeltaGenerator] = {}
        self._drawn: dict[int, str] = {}

    @property
    def are_running(self) -> bool:
        return any(step.state is StepState.RUNNING for step in self._steps.values())

    def take(self, step: Step) -> None:
        self._steps[step.n] = step
        if step.n not in self._places:
            self._places[step.n] = self._place.empty()

    def draw(self, sources: tuple[Source, ...]) -> None:
        """Draw what looks different now."""
        for n, step in self._steps.items():
            html = steps_html([step], sources, live=True)
            if self._drawn.get(n) != html:
                self._drawn[n] = html
                self._places[n].html(html)
