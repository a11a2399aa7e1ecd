"""From the messages of a client to a question and what was said before it."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from api.openai.errors import NoQuestionError
from api.openai.requests import AssistantMessage, Message, UserMessage

SOURCES = "Sources:"
"""What the list at the end of an answer begins with."""

_LIST = re.compile(rf"\n\n{SOURCES}(\n\[\d+\].*)+\Z")


class Talk(NamedTuple):
    """A question, and the questions and answers before it, the oldest first."""

    question: str
    history: list[tuple[str, str]]


def talk_of(messages: Sequence[Message]) -> Talk:
    """The last question of a user, with the turns before it.

    What an assistant says before any question or after the last one, and instructions, are left
    out; several answers in a row are one, and a question nobody answered has the answer "".

    Raises:
        NoQuestionError: No user says anything.
    """
    turns: list[tuple[str, str]] = []
    for message in messages:
        if isinstance(message, UserMessage):
            turns.append((_text(message), ""))
        elif isinstance(message, AssistantMessage) and turns:
            question, answer = turns[-1]
            said = without_sources(_text(message))
            turns[-1] = (question, f"{answer}\n\n{said}" if answer else said)
    if not turns:
        raise NoQuestionError
    return Talk(turns[-1][0], turns[:-1])


def without_sources(answer: str) -> str:
    """The answer without the list of sources at its end, which clients send back with it."""
    # Blanks at the end are no part of the pattern: a long run of them would cost it hours.
    found = _LIST.search(answer.rstrip())
    return answer[: found.start()] if found else answer


def _text(message: UserMessage | AssistantMessage) -> str:
    content = message.content or ""
    return content if isinstance(content, str) else "\n".join(part.text for part in content)
