"""Uploaded files in an S3-compatible bucket, which any number of machines can share."""

import hashlib
import re
import uuid
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from itertools import islice
from typing import Any, TypeVar

from domain import HIDDEN_NAMES, StoredFile, utc_text
from domain.errors import ConfigError, StorageUnavailableError
from domain.messages import Message, _
from domain.storage_settings import parse_uploads_url

T = TypeVar("T")

_CONNECT_S, _READ_S, _ATTEMPTS = 5, 30, 4
_REQUESTS = 8
"""The number of simultaneous requests, which make listing and deleting many files faster."""
_BATCH = 1000
_DIGEST = "sha256"
_SHA256 = re.compile(r"[0-9a-f]{64}")
_MISSING = {"404", "NoSuchKey"}
_OF_FILES = {"head_object", "get_object"}
_DENIED = {
    "401",
    "403",
    "AccessDenied",
    "ExpiredToken",
    "InvalidAccessKeyId",
    "InvalidToken",
    "SignatureDoesNotMatch",
}
_PROBE = ".check"
_NOT_USABLE = _(
    "The uploaded files of this library can't be reached at the moment: try again later. An"
    " administrator finds the details in the log."
)


@dataclass(frozen=True)
class UploadBucket:
    """Reads and writes upload boxes in a bucket, with the interface of `UploadFiles`.

    The file `name` of the box at `location` is the object `<prefix>/<location>/<name>`, and its
    metadata contain its SHA-256. Without keys, the standard sources of AWS apply: environment,
    profiles, and the roles of machines and containers. A call takes a few minutes at most.

    All methods raise StorageUnavailableError if the bucket can't be used now.
    """

    bucket_url: str
    endpoint: str = ""
    region: str = ""
    access_key: str = ""
    secret_key: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        """Raises ConfigError without the package botocore."""
        if find_spec("botocore") is None:
            raise ConfigError(
                _("FOOTNOTE_UPLOADS_URL needs the package {name}: pip install {name}").format(
                    name="botocore"
                )
            )

    def url(self, location: str) -> str:
        """The address of a box, without a slash at the end."""
        bucket, prefix = self._address
        return f"s3://{bucket}/{prefix}{location}"

    def require_space(self, payload_bytes: int) -> None:
        """Does nothing: a bucket has no limit, and imports check the disk themselves."""

    def write(self, location: str, name: str, data: bytes) -> None:
        """Write a file atomically; does nothing if the content is unchanged."""
        digest = hashlib.sha256(data).hexdigest()
        with suppress(FileNotFoundError):
            if self.find(location, name).version == digest:
                return
        self._put(self._key(location, name), data, digest)

    def names(self, location: str) -> list[str]:
        """The sorted paths of the files in the box."""
        names = (key.removeprefix(self._key(location)) for key in self._keys(location))
        return sorted(name for name in names if not _is_hidden(name))

    def files(self, location: str) -> Iterator[StoredFile]:
        """Yield the files in the box, sorted by name, without those deleted meanwhile.

        The version of a file that another program has stored is "".
        """

        def find(name: str) -> StoredFile | None:
            with suppress(FileNotFoundError):
                return self.find(location, name)
            return None

        yield from filter(None, _in_parallel(find, self.names(location)))

    def find(self, location: str, name: str) -> StoredFile:
        """A file; raises FileNotFoundError if the box has no such file."""
        head = self._call("head_object", Key=self._key(location, name))
        return _stored_file(name, head)

    def read(self, location: str, name: str, max_bytes: int) -> tuple[StoredFile, bytes]:
        """A file and its bytes, which are b"" if it has more than `max_bytes`.

        Raises:
            FileNotFoundError: The box has no such file.
        """
        response = self._call("get_object", Key=self._key(location, name))
        file = _stored_file(name, response)
        with response["Body"] as body, self._errors():
            return file, b"" if file.size > max_bytes else body.read()

    def remove(self, location: str, name: str) -> bool:
        """Delete a file; False if it does not exist."""
        if name not in self.names(location):
            return False
        self._delete(self._key(location, name))
        return True

    def remove_all(self, location: str, names: Iterable[str]) -> None:
        """Delete these files."""
        keys = (self._key(location, name) for name in names)
        list(_in_parallel(self._delete, keys))

    def remove_box(self, location: str) -> None:
        """Delete all files in the box."""
        list(_in_parallel(self._delete, list(self._keys(location))))

    def check(self) -> None:
        """Write, list, read, and delete a small object."""
        key = self._key(_PROBE) + uuid.uuid4().hex
        self._put(key, b"", hashlib.sha256().hexdigest())
        list(self._keys(_PROBE))
        self._call("get_object", Key=key)["Body"].close()
        self._delete(key)

    def _key(self, location: str, name: str = "") -> str:
        if name and _is_hidden(name):  # also ".."
            raise FileNotFoundError(name)
        return f"{self._address[1]}{location}/{name}"

    def _keys(self, location: str) -> Iterator[str]:
        page: dict[str, Any] = {"IsTruncated": True}
        position: dict[str, str] = {}
        while page["IsTruncated"]:
            page = self._call("list_objects_v2", Prefix=self._key(location), **position)
            yield from (entry["Key"] for entry in page.get("Contents", ()))
            position = {"ContinuationToken": page.get("NextContinuationToken", "")}

    def _put(self, key: str, data: bytes, digest: str) -> None:
        self._call("put_object", Key=key, Body=data, Metadata={_DIGEST: digest})

    def _delete(self, key: str) -> None:
        self._call("delete_object", Key=key)

    def _call(self, operation: str, **arguments: Any) -> dict[str, Any]:
        with self._errors(of_file=operation in _OF_FILES):
            call = getattr(self._client, operation)
            result: dict[str, Any] = call(Bucket=self._address[0], **arguments)
            return result

    @cached_property
    def _address(self) -> tuple[str, str]:
        """The bucket, and the prefix of all keys."""
        return parse_uploads_url(self.bucket_url)

    @cached_property
    def _client(self) -> Any:
        from botocore.config import Config
        from botocore.session import get_session

        return get_session().create_client(
            "s3",
            endpoint_url=self.endpoint or None,
            region_name=self.region or None,
            aws_access_key_id=self.access_key or None,
            aws_secret_access_key=self.secret_key or None,
            config=Config(
                connect_timeout=_CONNECT_S,
                read_timeout=_READ_S,
                retries={"mode": "standard", "total_max_attempts": _ATTEMPTS},
                max_pool_connections=_REQUESTS,
                # Many servers do not know the newer checksums.
                request_checksum_calculation="when_required",
                response_checksum_validation="when_required",
                s3={"addressing_style": "path" if self.endpoint else "auto"},
            ),
        )

    @contextmanager
    def _errors(self, *, of_file: bool = False) -> Iterator[None]:
        from botocore.exceptions import BotoCoreError, ClientError
        from urllib3.exceptions import HTTPError

        try:
            yield
        except ClientError as error:
            code = str(error.response.get("Error", {}).get("Code", ""))
            if of_file and code in _MISSING:
                raise FileNotFoundError from error
            raise self._unavailable(_advice(code)) from error
        # HTTPError: while the body is read; ValueError: an endpoint that is not a host name
        except (BotoCoreError, HTTPError, ValueError) as error:
            raise self._unavailable(_advice(type(error).__name__)) from error

    def _unavailable(self, advice: Message) -> StorageUnavailableError:
        message = _("The bucket {url} of FOOTNOTE_UPLOADS_URL can't be used now: {advice}.")
        error = StorageUnavailableError(message.format(url=self.bucket_url, advice=advice))
        error.public_message = _NOT_USABLE
        return error


def _advice(code: str) -> Message:
    """What has failed and what to do, for an error code of S3 or the name of an exception."""
    if code == "NoSuchBucket":
        return _("it does not exist ({code}); create it, or correct the setting").format(code=code)
    if code in _DENIED:
        return _(
            "access is denied ({code}); check FOOTNOTE_S3_ACCESS_KEY and FOOTNOTE_S3_SECRET_KEY,"
            " and whether they permit listing, reading, writing, and deleting objects"
        ).format(code=code)
    if "Credentials" in code:
        return _(
            "there are no credentials ({code}); set FOOTNOTE_S3_ACCESS_KEY and"
            " FOOTNOTE_S3_SECRET_KEY, or one of the standard sources of AWS"
        ).format(code=code)
    return _(
        "the server does not answer as expected ({code}); check FOOTNOTE_S3_ENDPOINT and"
        " FOOTNOTE_S3_REGION, and whether the server is running and not overloaded"
    ).format(code=code)


def _stored_file(name: str, response: dict[str, Any]) -> StoredFile:
    digest = response["Metadata"].get(_DIGEST, "")
    version = digest if _SHA256.fullmatch(digest) else ""
    modified_at = utc_text(response["LastModified"])
    return StoredFile(name, response["ContentLength"], version, modified_at)


def _is_hidden(name: str) -> bool:
    """Whether part of the path is empty or hidden, as no uploaded file's is."""
    return any(not part or part.startswith(HIDDEN_NAMES) for part in name.split("/"))


def _in_parallel(call: Callable[[str], T], arguments: Iterable[str]) -> Iterator[T]:
    """Yield the results in order; after an error, no further batch of calls begins."""
    waiting = iter(arguments)
    with ThreadPoolExecutor(_REQUESTS) as pool:
        while batch := list(islice(waiting, _BATCH)):
            yield from pool.map(call, batch)
