"""Files that are given, and what becomes of them."""

from fastapi import UploadFile
from pydantic import Field

from api.schemas.answers import Given, Told
from api.schemas.imports import Import


class GivenFiles(Given):
    """The form of an upload."""

    files: list[UploadFile] = Field(min_length=1, description="The files")


class RefusedFile(Told):
    """A file that was not taken, and why."""

    name: str = Field(description="The file's name as it was sent", examples=["tool.exe"])
    reason: str = Field(
        description="Why it was not taken", examples=["files of this kind are not read"]
    )


class UploadedFiles(Told):
    """What became of files that were given."""

    source_id: str | None = Field(
        description="Id of the box, which is a source; null where nothing was taken and there is"
        " none",
        examples=["7c9e6679742540de944be07fc1f90ae7"],
    )
    accepted: list[str] = Field(
        description="Names in the box of the files that were taken", examples=[["leave.md"]]
    )
    refused: list[RefusedFile] = Field(description="The files that were not taken")
    queued: Import | None = Field(
        description="The import that makes them answer; null where none was taken"
    )
