"""Loading a model: what it raises where files are missing or damaged, and the memory it took."""

import ctypes
import sys


def load_errors() -> tuple[type[Exception], ...]:
    """ONNX Runtime's own share no base class but Exception."""
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
    """Give the system back what was freed; glibc keeps as much as the model's file has."""
    if sys.platform != "linux":
        return
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # musl has none
    if trim is not None:
        trim(0)
