"""The settings that limit what one person may use; without a value, there is no limit."""

from pydantic import BaseModel, Field


class LimitSettings(BaseModel):
    """Limits of each person, over all processes of the data folder."""

    questions_per_minute: int | None = Field(
        None, ge=1, description="Maximum number of questions of a person per minute"
    )
    uploads_per_day: int | None = Field(
        None, ge=1, description="Maximum number of files that a person uploads per day"
    )
    upload_mb_per_day: int | None = Field(
        None, ge=1, description="Maximum size of these files in MB"
    )
    upload_storage_mb: int | None = Field(
        None, ge=1, description="Maximum size of all stored files that a person has uploaded, in MB"
    )
