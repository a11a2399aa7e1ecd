"""Runs Java, the Java compiler, and Maven with a time limit and clear errors."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

NEEDED = ("java", "javac", "mvn")
SHOWN_LINES = 60
"""Enough for the causes in a stack trace of Java."""


class OpenSearchError(Exception):
    """OpenSearch could not be fetched or started."""


def missing_programs() -> str:
    """What to install, or an empty text if every program is there."""
    missing = [name for name in NEEDED if shutil.which(name) is None]
    if not missing:
        return ""
    return (
        f"OpenSearch needs {', '.join(missing)}; install a JDK (11 or newer) and Maven "
        "(on Debian: apt-get install default-jdk-headless maven)"
    )


def require_programs() -> None:
    if problem := missing_programs():
        raise OpenSearchError(problem)


def run(command: Sequence[str | Path], *, limit_s: float, failure: str, **environment: str) -> str:
    """The command's output; `failure` begins the message of the error if it fails."""
    try:
        done = subprocess.run(
            command,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=limit_s,
            check=False,
            encoding="utf-8",
            errors="replace",
        )
    except subprocess.TimeoutExpired as error:
        raise OpenSearchError(f"{failure}: no result after {limit_s:.0f} s") from error
    if done.returncode:
        raise OpenSearchError(f"{failure} (code {done.returncode}):\n{last_lines(done.stdout)}")
    return done.stdout


def last_lines(text: str) -> str:
    return "\n".join(text.splitlines()[-SHOWN_LINES:])
