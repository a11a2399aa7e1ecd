"""What loading a model raises where its files are missing or damaged."""


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
