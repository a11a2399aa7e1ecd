"""Files of installed packages are used only if they match the pinned checksums."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import ConfigError
from models.model_files import check_sha256, verified_bytes

DATA = b"the weights"
SHA256 = hashlib.sha256(DATA).hexdigest()


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "weights.bin"
    path.write_bytes(DATA)
    return path


def test_the_pinned_file_is_read(path):
    assert verified_bytes(path, SHA256) == DATA


@pytest.mark.parametrize("data", [b"", DATA[:-1], DATA + b"\0", b"The weights"])
def test_any_other_file_is_reported_with_a_remedy(path, data):
    path.write_bytes(data)
    with pytest.raises(
        ConfigError,
        match=f"{path} is not the expected model.*but {SHA256} was expected.*make setup",
    ):
        verified_bytes(path, SHA256)


def test_a_missing_file_is_reported_with_a_remedy(path):
    path.unlink()
    with pytest.raises(
        ConfigError, match=f"{path} is not the expected model.*No such file.*make setup"
    ):
        verified_bytes(path, SHA256)


def test_a_folder_in_its_place_is_reported_with_a_remedy(tmp_path):
    with pytest.raises(ConfigError, match=f"{tmp_path} is not the expected model.*make setup"):
        verified_bytes(tmp_path, SHA256)


@given(st.binary(max_size=40))
def test_only_the_pinned_checksum_passes(data):
    checksum = hashlib.sha256(data).hexdigest()
    check_sha256(None, checksum, checksum)
    if data != DATA:
        with pytest.raises(ConfigError, match="not the expected model"):
            check_sha256(None, checksum, SHA256)
