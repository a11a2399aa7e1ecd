"""Runs generators in a separate context."""

from collections.abc import Generator
from contextvars import Context
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def run_in_context(work: Generator[T, None, R], context: Context) -> Generator[T, None, R]:
    """Run each step of `work`, and its cleanup, in the given context.

    Otherwise, context variables that a generator sets would also be set for its consumer between
    items.
    """
    try:
        while True:
            try:
                item = context.run(next, work)
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]  # StopIteration.value is untyped
            yield item
    finally:
        context.run(work.close)
