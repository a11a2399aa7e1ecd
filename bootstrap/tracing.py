"""LangSmith's tracing, off where neither an account nor a server for traces is configured."""

import os

_DESTINATIONS = (
    "LANGSMITH_API_KEY",
    "LANGCHAIN_API_KEY",
    "LANGSMITH_ENDPOINT",
    "LANGCHAIN_ENDPOINT",
    "LANGSMITH_RUNS_ENDPOINTS",
)
_SWITCH = "LANGSMITH_TRACING_V2"  # takes precedence over every other spelling
_OLD_SWITCHES = ("LANGCHAIN_TRACING", "LANGCHAIN_HANDLER")


def stop_traces_without_destination() -> None:
    """Switch tracing off in this process unless a key or an address of LangSmith's is set.

    A switch alone, such as `LANGSMITH_TRACING=true`, would send questions and passages to
    LangSmith's own host. Call it before the first chain runs.
    """
    if any(os.environ.get(name, "").strip() for name in _DESTINATIONS):
        return
    os.environ[_SWITCH] = "false"
    for name in _OLD_SWITCHES:  # LangChain refuses to run with one of these while tracing is off
        os.environ.pop(name, None)
