"""Disables LangSmith's tracing, and enables OpenTelemetry's, depending on what is configured."""

import os
import sys
from functools import cache
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any

from domain.logs import get_logger

_DESTINATIONS = (
    "LANGSMITH_API_KEY",
    "LANGCHAIN_API_KEY",
    "LANGSMITH_ENDPOINT",
    "LANGCHAIN_ENDPOINT",
    "LANGSMITH_RUNS_ENDPOINTS",
)
_PACKAGE, _TYPES = "langsmith", "types"
_CLIENT_TYPES = f"{_PACKAGE}.{_TYPES}"
_SWITCH = "LANGSMITH_TRACING_V2"  # takes precedence over every other spelling
_OLD_SWITCHES = ("LANGCHAIN_TRACING", "LANGCHAIN_HANDLER")

ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
"""The standard variables with the address of a collector for OpenTelemetry's traces."""


@cache
def start_traces() -> None:
    """Export this process's traces if the environment sets a collector, in the standard variables.

    Otherwise, nothing is loaded. If OpenTelemetry is not installed, a warning says so.
    """
    environment = os.environ
    is_disabled = environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    exporter = environment.get("OTEL_TRACES_EXPORTER", "").strip().lower()
    if is_disabled or exporter == "none":
        return
    if not any(environment.get(name, "").strip() for name in ENDPOINTS):
        return
    log = get_logger("processes")
    try:
        from bootstrap.trace_export import export_traces  # slow

        export_traces()
    except ImportError as error:
        log.warning(
            "Traces are not exported, because %s is not installed: install the extra `otel`, or"
            " unset %s",
            error.name,
            ENDPOINTS[0],
        )
    # Boundary: the SDK raises various exceptions for invalid variables.
    except Exception as error:  # noqa: BLE001
        log.warning(
            "Traces are not exported: check the variables that begin with OTEL_ (%s)", error
        )


def end_traces() -> None:
    """Export the last traces, if any are exported, before this process ends."""
    if module := sys.modules.get("bootstrap.trace_export"):
        module.flush_traces()


def stop_traces_without_destination() -> None:
    """Disable tracing in this process unless a LangSmith key or address is set.

    A switch alone, such as `LANGSMITH_TRACING=true`, would send questions and passages to
    LangSmith's own host. Call it before the first chain runs.
    """
    if any(os.environ.get(name, "").strip() for name in _DESTINATIONS):
        return
    os.environ[_SWITCH] = "false"
    for name in _OLD_SWITCHES:  # with one of these and tracing off, LangChain fails
        os.environ.pop(name, None)


class _OnDemand(ModuleType):
    """A package that is executed on the first access to one of its attributes."""

    def __getattr__(self, name: str) -> Any:
        spec = self.__spec__
        if spec is None or spec.loader is None or name.startswith("__"):
            raise AttributeError(name)
        self.__class__ = ModuleType  # type: ignore[assignment]
        spec.loader.exec_module(self)
        return getattr(self, name)


def postpone_client_types() -> None:
    """Keep the import of LangChain from loading the 130 types of LangSmith's client.

    LangChain always imports LangSmith, which imports the package of these types for just one of
    them. That takes a twelfth of the CPU time of a question on the command line. The package is
    loaded when another type is accessed.
    """
    if _CLIENT_TYPES in sys.modules or (spec := find_spec(_CLIENT_TYPES)) is None:
        return
    package = module_from_spec(spec)
    package.__class__ = _OnDemand
    sys.modules[_CLIENT_TYPES] = package
    setattr(sys.modules[_PACKAGE], _TYPES, package)
