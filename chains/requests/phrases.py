"""Loads the patterns and texts of this package from TOML files next to its modules."""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

_NAME = re.compile(r"%(\w+)%")


@cache
def load_phrases(name: str) -> Mapping[str, Any]:
    """The tables of `NAME.toml`."""
    return tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text("utf-8"))


def compile_pattern(template: str, parts: Mapping[str, str]) -> re.Pattern[str]:
    """Compile a template to a pattern that ignores case and in which `.` matches line breaks.

    Lines are joined without the white space around them, and `%NAME%` is replaced by that part.
    """
    return re.compile(_expanded(template, parts), re.IGNORECASE | re.DOTALL)


def _expanded(template: str, parts: Mapping[str, str]) -> str:
    joined = "".join(map(str.strip, template.splitlines()))
    return _NAME.sub(lambda name: _expanded(parts[name[1]], parts), joined)
