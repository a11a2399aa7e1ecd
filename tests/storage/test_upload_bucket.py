import hashlib
import sys
from dataclasses import replace

import pytest

from domain.errors import ConfigError, StorageUnavailableError
from storage import upload_bucket
from storage.upload_bucket import UploadBucket
from tests.hostile_names import HOSTILE_NAMES
from tests.s3.proxy import Fault
from tests.s3.server import ACCESS_KEY, REGION, SECRET_KEY, server

BOX, OTHER = "uploads/mine", "uploads/mine2"
NAMES = (
    "ü 한국어 日本語/#%?&+ =;@!'()[]{}^`~$,.txt",
    "cafe\u0301.md",
    "\U0001f600.md",
    "a b  c.md",
    "%2e%2e.md",
    "a/b/c/d.md",
    "200 bytes " + "b" * 190,
)


def bucket_at(server, url, **changes):
    return replace(UploadBucket(url, server.endpoint, REGION, ACCESS_KEY, SECRET_KEY), **changes)


@pytest.fixture
def bucket(s3_server, bucket_url):
    return bucket_at(s3_server, bucket_url)


@pytest.fixture
def behind_proxy(s3_proxy, bucket_url):
    return bucket_at(s3_proxy.server, bucket_url)


@pytest.fixture
def _impatient(monkeypatch):
    monkeypatch.setattr(upload_bucket, "_ATTEMPTS", 2)
    monkeypatch.setattr(upload_bucket, "_READ_S", 0.5)


def content(bucket, name, location=BOX):
    return bucket.read(location, name, 1000)[1]


def unavailable(call, *arguments):
    with pytest.raises(StorageUnavailableError) as error:
        call(*arguments)
    message = str(error.value)
    assert "FOOTNOTE_UPLOADS_URL" in message
    assert SECRET_KEY not in message
    assert "uploaded files of this library can't be reached" in error.value.public_message
    return message


@pytest.mark.s3
def test_files_are_read_as_they_were_written_whatever_their_names_are(bucket):
    names = [*NAMES, *(name.replace("/", "_").replace("\\", "_") for name in HOSTILE_NAMES)]
    for name in names:
        bucket.write(BOX, name, name.encode())
    assert bucket.names(BOX) == sorted(names)
    for file in bucket.files(BOX):
        assert content(bucket, file.name) == file.name.encode()
        assert file.size == len(file.name.encode())
        assert file.version == hashlib.sha256(file.name.encode()).hexdigest()
        assert file.modified_at.startswith("20")
    for name in names:
        assert bucket.remove(BOX, name)
    assert bucket.names(BOX) == []


@pytest.mark.s3
@pytest.mark.parametrize("name", ["../mine2/a.md", "a/../b.md", "./a.md", "/a.md", "a//b.md", "a/"])
def test_a_name_cannot_lead_out_of_its_box(bucket, name):
    with pytest.raises(FileNotFoundError):
        bucket.write(BOX, name, b"A")
    with pytest.raises(FileNotFoundError):
        bucket.read(BOX, name, 100)
    assert not bucket.remove(BOX, name)


@pytest.mark.s3
def test_a_box_contains_only_its_own_files(bucket):
    bucket.write(BOX, "a.md", b"A")
    bucket.write(OTHER, "b.md", b"B")
    bucket.remove_box(BOX)
    bucket.remove_box(BOX)
    assert bucket.names(BOX) == []
    assert bucket.names(OTHER) == ["b.md"]
    assert content(bucket, "b.md", OTHER) == b"B"


@pytest.mark.s3
def test_several_libraries_can_share_a_bucket(bucket):
    other = replace(bucket, bucket_url=f"{bucket.bucket_url.removesuffix('/main')}")
    bucket.write(BOX, "a.md", b"A")
    assert other.names(BOX) == []
    assert other.names(f"main/{BOX}") == ["a.md"]


@pytest.mark.s3
def test_files_are_removed_one_by_one_or_together(bucket):
    for name in "abcd":
        bucket.write(BOX, f"{name}.md", b"text")
    assert bucket.remove(BOX, "a.md")
    assert not bucket.remove(BOX, "a.md")
    bucket.remove_all(BOX, ["b.md", "missing.md", "c.md"])
    assert bucket.names(BOX) == ["d.md"]


@pytest.mark.s3
def test_unchanged_content_is_not_written_again(behind_proxy, s3_proxy):
    behind_proxy.write(BOX, "a.md", b"A")
    assert s3_proxy.methods() == ["HEAD", "PUT"]
    behind_proxy.write(BOX, "a.md", b"A")
    assert s3_proxy.methods() == ["HEAD"]
    behind_proxy.write(BOX, "a.md", b"B")
    assert s3_proxy.methods() == ["HEAD", "PUT"]


@pytest.mark.s3
def test_long_listings_have_pages(bucket, behind_proxy, s3_proxy):
    names = [f"{number:04}.md" for number in range(1003)]
    list(upload_bucket._in_parallel(lambda name: bucket.write(BOX, name, b""), names))
    assert behind_proxy.names(BOX) == names
    assert s3_proxy.methods() == ["GET", "GET"]
    assert [file.name for file in bucket.files(BOX)] == names
    bucket.remove_box(BOX)
    assert bucket.names(BOX) == []


@pytest.mark.s3
def test_only_visible_files_of_other_programs_are_listed_and_without_a_version(bucket, s3_server):
    name = bucket.bucket_url.split("/")[2]
    for key in ("a.md", ".hidden/b.md", "c/.d.md", "~$e.md", "f/"):
        s3_server.client().put_object(Bucket=name, Key=f"footnote/main/{BOX}/{key}", Body=b"")
    [file] = bucket.files(BOX)
    assert (file.name, file.size, file.version) == ("a.md", 0, "")


@pytest.mark.s3
def test_a_larger_file_is_not_read(bucket):
    bucket.write(BOX, "a.md", b"12345")
    file, data = bucket.read(BOX, "a.md", 4)
    assert (file.size, data) == (5, b"")
    with pytest.raises(FileNotFoundError):
        bucket.read(BOX, "b.md", 4)


@pytest.mark.s3
def test_a_check_leaves_nothing(bucket, s3_server):
    bucket.check()
    listing = s3_server.client().list_objects_v2(Bucket=bucket.bucket_url.split("/")[2])
    assert "Contents" not in listing


@pytest.mark.s3
@pytest.mark.usefixtures("_impatient")
@pytest.mark.parametrize(
    ("changes", "advice"),
    [
        ({"bucket_url": "s3://missing"}, "it does not exist (NoSuchBucket); create it"),
        ({"secret_key": "wrong-wrong"}, "denied (SignatureDoesNotMatch); check FOOTNOTE_S3_ACCESS"),
        (
            {"access_key": "wrong"},
            "denied (InvalidAccessKeyId); check FOOTNOTE_S3_ACCESS",
        ),
        (
            {"endpoint": "http://127.0.0.1:9"},
            "(EndpointConnectionError); check FOOTNOTE_S3_E",
        ),
    ],
)
def test_the_message_says_which_setting_is_wrong(bucket, changes, advice):
    wrong = replace(bucket, **changes)
    assert advice in unavailable(wrong.names, BOX)
    assert advice.split(";")[0].split("(")[0] in unavailable(wrong.write, BOX, "a.md", b"A")
    unavailable(wrong.check)


@pytest.mark.s3
def test_missing_credentials_are_named(bucket, monkeypatch, tmp_path):
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    anonymous = replace(bucket, access_key="", secret_key="")
    assert "set FOOTNOTE_S3_ACCESS_KEY" in unavailable(anonymous.names, BOX)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", ACCESS_KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET_KEY)
    assert replace(anonymous).names(BOX) == []


@pytest.mark.s3
def test_a_bucket_that_can_only_be_read_is_reported(bucket_url, s3_server, tmp_path):
    with server(tmp_path) as writable:
        writable.client().create_bucket(Bucket="archive")
        bucket_at(writable, "s3://archive").write(BOX, "a.md", b"A")
    with server(tmp_path, "--readonly") as read_only:
        bucket = bucket_at(read_only, "s3://archive")
        assert bucket.names(BOX) == ["a.md"]
        for call in (
            lambda: bucket.write(BOX, "b.md", b"B"),
            lambda: bucket.remove(BOX, "a.md"),
            lambda: bucket.remove_box(BOX),
            bucket.check,
        ):
            assert "access is denied (AccessDenied)" in unavailable(call)
        assert bucket.names(BOX) == ["a.md"]


@pytest.mark.s3
def test_a_throttled_request_is_repeated(behind_proxy, s3_proxy):
    s3_proxy.faults = [Fault.SLOW_DOWN]
    behind_proxy.write(BOX, "a.md", b"A")
    assert content(behind_proxy, "a.md") == b"A"


@pytest.mark.s3
@pytest.mark.usefixtures("_impatient")
@pytest.mark.parametrize(
    ("fault", "code"), [(Fault.SLOW_DOWN, "SlowDown"), (Fault.HANGS, "ReadTimeoutError")]
)
def test_a_server_that_keeps_failing_is_given_up_after_a_few_attempts(
    behind_proxy, s3_proxy, fault, code
):
    s3_proxy.faults = [fault] * 10
    message = unavailable(behind_proxy.names, BOX)
    assert f"({code}); check FOOTNOTE_S3_ENDPOINT" in message
    assert len(s3_proxy.requests) == 2


@pytest.mark.s3
def test_half_a_file_is_an_error(behind_proxy, s3_proxy):
    behind_proxy.write(BOX, "a.md", b"12345678")
    s3_proxy.faults = [Fault.TRUNCATED]
    unavailable(behind_proxy.read, BOX, "a.md", 100)
    assert content(behind_proxy, "a.md") == b"12345678"


@pytest.mark.s3
@pytest.mark.usefixtures("_impatient")
def test_a_listing_that_fails_in_between_yields_no_partial_result(behind_proxy, s3_proxy):
    for number in range(30):
        behind_proxy.write(BOX, f"{number:02}.md", b"")
    s3_proxy.faults = [Fault.SLOW_DOWN] * 2
    unavailable(behind_proxy.names, BOX)
    assert len(behind_proxy.names(BOX)) == 30


def test_without_the_package_the_setting_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "botocore", None)
    with pytest.raises(ConfigError, match=r"FOOTNOTE_UPLOADS_URL needs.*pip install botocore"):
        UploadBucket("s3://bucket")


def test_the_secret_is_not_shown():
    assert "the-secret" not in repr(UploadBucket("s3://bucket", secret_key="the-secret"))


def test_after_an_error_no_further_batch_begins():
    calls = []

    def fail(name):
        calls.append(name)
        raise OSError(name)

    with pytest.raises(OSError, match="0"):
        list(upload_bucket._in_parallel(fail, map(str, range(2500))))
    assert len(calls) <= upload_bucket._BATCH
