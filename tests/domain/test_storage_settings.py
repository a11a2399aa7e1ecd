import pytest

from domain.errors import ConfigError
from domain.storage_settings import parse_uploads_url
from settings import load_settings, secret_values


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("s3://bucket", ("bucket", "")),
        ("s3://my.bucket-1/", ("my.bucket-1", "")),
        ("s3://bucket/footnote", ("bucket", "footnote/")),
        ("s3://bucket/a/b_2.c/d=e/", ("bucket", "a/b_2.c/d=e/")),
    ],
)
def test_the_address_of_a_bucket_has_folders(url, expected):
    assert parse_uploads_url(url) == expected


@pytest.mark.parametrize(
    "url",
    [
        "bucket",
        "https://bucket",
        "s3://",
        "s3://B",
        "s3://user:secret@bucket",
        "s3://bucket?region=x",
        "s3://bucket/../other",
        "s3://bucket/./a",
        "s3://bucket//a",
        "s3://bucket/a b",
    ],
)
def test_another_address_is_rejected_without_repeating_it(url):
    with pytest.raises(ConfigError, match="FOOTNOTE_UPLOADS_URL is not valid") as error:
        load_settings(uploads_url=url)
    assert "secret" not in str(error.value)


ADDRESSES = ("storage:9000", "ftp://s", "https://", "https://x/path", "http://x:y", "http://u:p@x")


@pytest.mark.parametrize("address", ADDRESSES)
def test_the_endpoint_must_be_the_address_of_a_server(address):
    with pytest.raises(ConfigError, match="FOOTNOTE_S3_ENDPOINT is not valid"):
        load_settings(s3_endpoint=address)


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:9", "https://s3.example.com/", "http://[::1]:9"]
)
def test_the_endpoint_may_be_a_name_or_an_address(address):
    assert load_settings(s3_endpoint=address).s3_endpoint == address


def test_both_keys_are_set_or_neither():
    for name in ("s3_access_key", "s3_secret_key"):
        with pytest.raises(ConfigError, match="Set both FOOTNOTE_S3_ACCESS_KEY and"):
            load_settings(**{name: "some-secret"})


def test_the_secret_key_is_hidden_in_logs(monkeypatch):
    monkeypatch.setenv("FOOTNOTE_S3_ACCESS_KEY", "id")
    monkeypatch.setenv("FOOTNOTE_S3_SECRET_KEY", "some-secret")
    settings = load_settings()
    assert "some-secret" in secret_values(settings)
    assert "some-secret" not in repr(settings)
