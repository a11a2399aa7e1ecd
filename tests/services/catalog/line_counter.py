"""How much work a call is, counted instead of timed, so that a busy machine changes nothing."""

import sys


def lines_run(call):
    """How many lines, calls and returns of Python the call runs."""
    count = 0

    def trace(frame, event, argument):
        nonlocal count
        count += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return count
