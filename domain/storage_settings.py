"""The settings that say where Footnote stores its data, except for the index."""

import re
from pathlib import Path
from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, Field, SecretStr, model_validator

from domain.errors import ConfigError
from domain.messages import _

_UPLOADS_URL = re.compile(r"s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])((?:/[\w=-][\w.=-]*)*)/?")
_ENDPOINT = re.compile(r"https?://([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?/?")


def parse_uploads_url(text: str) -> tuple[str, str]:
    """The bucket, and the prefix of all keys: "" or folders that each end in a slash.

    Raises:
        ConfigError: The text is not such an address.
    """
    match = _UPLOADS_URL.fullmatch(text)
    if match is None:
        raise ConfigError(
            _("{setting} is not valid: use an address such as s3://bucket/folder.").format(
                setting="FOOTNOTE_UPLOADS_URL"
            )
        )
    prefix = match[2].removeprefix("/")
    return match[1], f"{prefix}/" if prefix else ""


def _check_uploads_url(text: str) -> str:
    if text:
        parse_uploads_url(text)
    return text


def _check_endpoint(text: str) -> str:
    if text and not _ENDPOINT.fullmatch(text):
        raise ConfigError(
            _(
                "{setting} is not valid: use http:// or https://, a host, and a port, such as"
                " https://storage.example.com:9000."
            ).format(setting="FOOTNOTE_S3_ENDPOINT")
        )
    return text


class StorageSettings(BaseModel):
    """The data folder, the database, and the bucket of uploaded files."""

    data_dir: Path = Field(Path("data"), description="Folder where Footnote stores all its data")
    database_url: str | None = Field(None, description="URL of the ledger's database")
    uploads_url: Annotated[str, AfterValidator(_check_uploads_url)] = Field(
        "", description="Bucket of uploaded files, such as s3://bucket/folder"
    )
    s3_endpoint: Annotated[str, AfterValidator(_check_endpoint)] = Field(
        "", description="Address of the S3-compatible server of that bucket, if it is not AWS"
    )
    s3_region: str = Field(
        "", pattern=r"^[\w-]*$", description="Region of that bucket, such as eu-central-1"
    )
    s3_access_key: str = Field("", description="ID of the access key of that bucket")
    s3_secret_key: SecretStr | None = Field(None, description="Secret of that access key")

    @model_validator(mode="after")
    def _check_s3_keys(self) -> Self:
        if bool(self.s3_access_key) != bool(self.s3_secret_key):
            raise ConfigError(
                _("Set both FOOTNOTE_S3_ACCESS_KEY and FOOTNOTE_S3_SECRET_KEY, or neither of them.")
            )
        return self
