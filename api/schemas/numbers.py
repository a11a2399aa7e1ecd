"""Numbers as JSON means them."""

from typing import Any

from pydantic import BeforeValidator


def _number(value: Any) -> Any:
    if isinstance(value, bool | str):
        raise ValueError("Input should be a number")  # noqa: TRY004  # pydantic tells this one
    return value


NUMBER = BeforeValidator(_number)
"""Stands behind the bounds of a whole number, which is 1 as well as 1.0, as `integer` is in JSON.

No text and no truth is taken for one, as pydantic does; its own strict kind would refuse 1.0.
"""
