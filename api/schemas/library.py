"""The library as a whole: what it holds, and what a search of it can be narrowed to."""

from pydantic import Field, StrictBool

from api.schemas.answers import Told

_SOURCE_ID = "7c9e6679742540de944be07fc1f90ae7"


class LibrarySource(Told):
    """A source, and what the library holds of it."""

    id: str = Field(description="Id of the source", examples=[_SOURCE_ID])
    name: str = Field(description="What it is called", examples=["Handbook"])
    kind: str = Field(description="Its kind; `upload` is a box of files", examples=["directory"])
    collection: str = Field(description="What it is filed under", examples=["HR"])
    documents: int = Field(
        ge=0, description="How many of its documents are in the library", examples=[4]
    )


class Narrowing(Told):
    """What a search can be narrowed to."""

    sources: dict[str, str] = Field(
        description="The names of the sources by their ids", examples=[{_SOURCE_ID: "Handbook"}]
    )
    collections: list[str] = Field(description="What sources are filed under", examples=[["HR"]])
    formats: list[str] = Field(description="Formats of documents", examples=[["md", "pdf"]])
    labels: list[str] = Field(description="Labels of documents", examples=[["policy"]])


class Library(Told):
    """What the library holds, and what is to be known about it."""

    documents: int = Field(ge=0, description="How many documents it holds", examples=[4])
    passages: int = Field(ge=0, description="How many passages it holds", examples=[12])
    notices: list[str] = Field(
        description="What the people who run it should know or do", examples=[[]]
    )
    has_worker: StrictBool = Field(description="Whether there is one to do what is queued")
    sources: list[LibrarySource] = Field(
        description="The sources that have documents in it, by name"
    )
    formats: dict[str, int] = Field(
        description="How many documents there are, by format", examples=[{"md": 4}]
    )
    scripts: dict[str, int] = Field(
        description="How many documents there are, by the writing most of them is in",
        examples=[{"latin": 4}],
    )
    narrowing: Narrowing = Field(description="What a search can be narrowed to")
