"""Turns: questions with what became of them, and the steps of an agent."""

from datetime import datetime
from typing import Any

from pydantic import Field

import domain
from api.schemas.answers import Citation, SearchChoice, Source, Told


class Step(Told):
    """A tool that the agent called, and what came back."""

    n: int = Field(description="Counts the steps of a turn from 1", examples=[1])
    tool: str = Field(description="The tool's name", examples=["search_documents"])
    arguments: dict[str, Any] = Field(
        description="What the agent asked it", examples=[{"query": "annual leave"}]
    )
    state: domain.StepState = Field(description="How it stands", examples=["done"])
    result: str = Field(
        description='What came back, shortened where long; "" while it runs',
        examples=["[1] Leave policy: New employees get 25 days ..."],
    )
    sources: list[int] = Field(description="The numbers of the sources in it", examples=[[1, 2]])
    said: str = Field(
        description='What the agent wrote before, "" if nothing: no part of the answer',
        examples=["I look for the rules on leave."],
    )
    milliseconds: float = Field(description="How long it took; 0 while it runs", examples=[41.5])


class Turn(Told):
    """A question and what became of it; turns with one parent are versions of each other."""

    id: str = Field(description="Id of the turn", examples=["5b1f0f3e2d9c4b0f8a7e6d5c4b3a2910"])
    conversation_id: str = Field(
        description="Id of the conversation that it is in",
        examples=["0e9d8c7b6a5f4e3d2c1b0a9f8e7d6c5b"],
    )
    parent_id: str | None = Field(
        description="Id of the turn that it follows; null at the beginning", examples=[None]
    )
    question: str = Field(
        description="As it was asked", examples=["How many days of leave do I get?"]
    )
    standalone_question: str = Field(
        description="What was searched for: the question, made to be understood without its history"
        '; "" where it did not come to that',
        examples=["How many days of leave do I get?"],
    )
    standalone_given: bool = Field(
        description="Whether the caller worded the standalone question", examples=[False]
    )
    state: domain.TurnState = Field(
        description="How it ended: `incomplete` where a limit ended it, `stopped` where the caller"
        " went away",
        examples=["complete"],
    )
    error: str = Field(description='Why it did not end well, "" where it did', examples=[""])
    answer: str = Field(
        description="The answer in Markdown: `[n]` cites, a document's own brackets are escaped, "
        '`\\[42\\]`; "" before its first word',
        examples=["New employees get 25 days [1]."],
    )
    model: str = Field(description="What answered", examples=["built-in extractive answerer"])
    sources: list[Source] = Field(description="What was put before the answerer, by number")
    citations: list[Citation] = Field(
        description="Of each number one, or one for each `[n]`, in the order of the answer"
    )
    unsupported_sentences: int = Field(
        description="How many sentences claim something without a verified citation", examples=[0]
    )
    steps: list[Step] = Field(description="The agent's; none where it was not asked")
    timings_ms: dict[str, float] = Field(
        description="Milliseconds until the sources were found, the first token and the end",
        examples=[{"found": 41.0, "first_token": 320.5, "total": 2210.9}],
    )
    usage: dict[str, int] = Field(
        description="Tokens in and out, where the model tells",
        examples=[{"input_tokens": 812, "output_tokens": 96}],
    )
    search: SearchChoice = Field(description="How was searched, what the settings say filled in")
    created_at: datetime = Field(
        description="When it was asked, in UTC", examples=["2026-11-21T10:00:00Z"]
    )
