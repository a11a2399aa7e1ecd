"""Measures work in executed lines instead of seconds, regardless of the load of the machine."""

import sys


def lines_run(call):
    """Count the lines, calls, and returns that Python executes during the call."""
    count = 0

    def trace(frame, event, argument):
        nonlocal count
        count += 1
        return trace

    previous = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(previous)
    return count
