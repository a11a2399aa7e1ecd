"""Loading model files: checksums, errors for missing or damaged files, and freed memory."""

import ctypes
import hashlib
import sys
from pathlib import Path

from domain.errors import ConfigError
from domain.messages import _


def verified_bytes(path: Path, sha256: str) -> bytes:
    """The contents of the file.

    Raises:
        ConfigError: The file is missing or not the pinned one.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise unknown_model(path, str(error)) from error
    check_sha256(path, hashlib.sha256(data).hexdigest(), sha256)
    return data


def check_sha256(path: Path, found: str, expected: str) -> None:
    """Compare the checksum of a file with the pinned one.

    Raises:
        ConfigError: The checksums differ.
    """
    if found != expected:
        raise unknown_model(
            path,
            _("its SHA-256 is {found}, but {expected} was expected").format(
                found=found, expected=expected
            ),
        )


def unknown_model(path: Path, reason: str) -> ConfigError:
    """The error for a file that can't be used for this reason."""
    return ConfigError(
        _("{path} is not the expected model ({reason}). Delete .venv and run `make setup`.").format(
            path=path, reason=reason
        )
    )


def load_errors() -> tuple[type[Exception], ...]:
    """The errors of loading a model; ONNX Runtime's own have no common base but Exception."""
    from onnxruntime.capi import (  # type: ignore[import-untyped]
        onnxruntime_pybind11_state as state,
    )

    return (
        OSError,
        ValueError,
        state.NoSuchFile,
        state.InvalidProtobuf,
        state.InvalidArgument,
        state.InvalidGraph,
        state.Fail,
    )


def return_freed_memory() -> None:
    """Return freed memory to the system; glibc would keep as much as the model's file takes."""
    if sys.platform != "linux":
        return
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # musl lacks it
    if trim is not None:
        trim(0)
