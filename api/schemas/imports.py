"""Imports: how they stand, and what became of each document."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, StrictBool

from api.paging import Page
from api.schemas.answers import Given, Told
from domain import ImportKind, ImportState, Outcome, QueuedImport, Stage
from services.import_reports import ImportSummary

_COUNTS = Field(description="How many documents had which outcome", examples=[{"new": 4}])


class Progress(Told):
    """How far an import has come."""

    stage: Stage = Field(description="What it is doing", examples=["embedding"])
    done: int = Field(ge=0, description="How many documents are behind it", examples=[3])
    total: int = Field(ge=0, description="Of how many; 0 while that is not known", examples=[4])
    key: str = Field(
        description='The document at hand, "" where there is none; while it waits for its source,'
        " why",
        examples=["leave.md"],
    )
    passages: int = Field(ge=0, description="Passages embedded so far", examples=[12])
    part: int = Field(ge=0, description="Passages embedded of the documents at hand", examples=[3])
    parts: int = Field(ge=0, description="Of how many; 0 in stages without any", examples=[8])


class Import(Told):
    """An import, a dry run or a removal: queued, at work or ended."""

    id: str = Field(description="Id of the import", examples=["0f8fad5bd9cb469fa16570867728950e"])
    source_id: str = Field(
        description="Id of its source", examples=["7c9e6679742540de944be07fc1f90ae7"]
    )
    kind: ImportKind = Field(description="What it does with its source", examples=["import"])
    state: ImportState = Field(
        description="How it stands; only `running` is at work", examples=["running"]
    )
    ended: bool = Field(description="Whether nobody will go on with it", examples=[False])
    started_at: datetime = Field(
        description="When its work began; while it waits for the first time, when it was asked for",
        examples=["2026-11-21T10:00:00Z"],
    )
    finished_at: datetime | None = Field(
        description="When it ended, in UTC; null before", examples=[None]
    )
    seconds: float = Field(
        ge=0, description="Seconds at work, without waiting and pauses", examples=[1.5]
    )
    message: str = Field(
        description='What people should know of how it went, "" where that is nothing',
        examples=[""],
    )
    passages_embedded: int = Field(
        ge=0, description="How many passages were made vectors", examples=[12]
    )
    progress: Progress | None = Field(description="How far it is; null before it has begun")
    keys: list[str] = Field(
        description="The documents it is confined to; empty: the whole source", examples=[[]]
    )
    confirm_removals: bool = Field(
        description="Whether it removes documents even if most of the source is gone",
        examples=[False],
    )
    wish: Literal["", "pause", "cancel"] = Field(
        description='What was asked of it and it has not heard yet, "" where that is nothing',
        examples=[""],
    )
    retry_at: datetime | None = Field(
        description="When it goes on, in UTC, where its source could not be reached; else null",
        examples=[None],
    )


class ImportDetails(Import):
    """An import with its figures, as far as it has come."""

    counts: Annotated[dict[Outcome, int], _COUNTS]
    held_back: int = Field(
        ge=0, description="How many removals wait for a confirmation", examples=[0]
    )
    passages: int = Field(
        ge=0, description="How many passages the documents have that it read", examples=[12]
    )
    pages: int = Field(
        ge=0, description="How many pages these have; 0 in formats without pages", examples=[0]
    )
    characters: int = Field(ge=0, description="Length of their texts", examples=[5120])
    tokens: int = Field(
        ge=0,
        description="In a dry run: how many tokens would be embedded, estimated; else 0",
        examples=[0],
    )
    price: float = Field(
        ge=0,
        description="What embedding these costs, in `currency`; 0 where it is free",
        examples=[0],
    )
    currency: str = Field(
        description="Currency of the price, as the settings name it", examples=["USD"]
    )

    @classmethod
    def of(cls, summary: ImportSummary) -> "ImportDetails":
        """The import that is summed up so."""
        figures = summary.figures
        return cls(
            **told(summary.job).model_dump(),
            counts=dict(summary.counts),
            held_back=summary.held_back,
            passages=figures.passages,
            pages=figures.pages,
            characters=figures.characters,
            tokens=figures.tokens,
            price=summary.price,
            currency=summary.currency,
        )


class ImportItem(Told):
    """One document of an import, and its outcome."""

    key: str = Field(description="Its name within the source", examples=["leave.md"])
    title: str = Field(description='Its title, "" where its key names it', examples=[""])
    location: str = Field(
        description="What a person opens: a path or an address", examples=["/srv/handbook/leave.md"]
    )
    outcome: Outcome = Field(
        description="What the import did with it; `kept` is missing, and stays for the reason",
        examples=["new"],
    )
    reason: str = Field(description='Why, where it needs saying; else ""', examples=[""])
    passages: int = Field(
        ge=0, description="How many passages it has, if it is new or changed; else 0", examples=[3]
    )
    pages: int = Field(ge=0, description="How many pages; 0 in formats without pages", examples=[0])
    characters: int = Field(
        ge=0, description="Length of its text, if it was read; else 0", examples=[1280]
    )
    tokens: int = Field(
        ge=0, description="In a dry run: its tokens, estimated; else 0", examples=[0]
    )


class ImportPage(Page[Import]):
    """Imports."""


class ImportItemPage(Page[ImportItem]):
    """Documents of an import, in the order in which they were settled."""


class GivenImport(Given):
    """How a source is to be imported."""

    confirm_removals: StrictBool = Field(
        False,
        description="Remove documents even if most of the source is gone: what a person confirms"
        " when an import ended with `needs confirmation`",
    )


def told(job: QueuedImport) -> Import:
    """The import as it is told."""
    return Import.model_validate(job)
