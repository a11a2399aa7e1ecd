"""Processor time of one `cli.py ask` without a chat model, over the sample documents.

The bound is a process that only imports the libraries that such a question needs. The two are run
in turns, so that other load on the machine affects both.
"""

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.afresh import ROOT, own_environment
from benchmarks.measure import Report

QUESTION = "How many days of annual leave do employees get?"
SMALL = {"rounds": 1}
LIBRARIES = (
    "deeplake, langchain_core.runnables.base, numpy, onnxruntime, pydantic_settings,"
    " sentencepiece, sqlalchemy.orm, tantivy, typer"
)


def measure(*, cache: str, rounds: int = 11) -> Report:
    del cache  # the model is built in the library's own folder
    report = Report(
        "A question on the command line",
        "user and system time of `cli.py ask` with the built-in embedding and no chat model over "
        f"the sample documents, medians of {rounds} processes each; before that, one import and "
        "one question",
    )
    with tempfile.TemporaryDirectory() as folder:
        data, compiled = Path(folder) / "data", Path(folder) / "compiled"
        question = ["cli.py", "ask", QUESTION, "--data-dir", str(data)]
        samples = str(ROOT / "samples" / "documents")
        seconds_of(["cli.py", "import", samples, "--data-dir", str(data)], compiled)
        commands = {"question": question, "bound": ["-c", f"import {LIBRARIES}"]}
        seconds = in_turns(commands, rounds, compiled)
    asking, bound = (statistics.median(seconds[name]) for name in commands)
    report.ratio("a question / importing its libraries", asking / bound)
    report.add("a question", asking, "s")
    report.add("importing its libraries", bound, "s")
    return report


def in_turns(
    commands: Mapping[str, Sequence[str]], rounds: int, compiled: Path
) -> dict[str, list[float]]:
    """Processor seconds of each command by round, after one warm-up round."""
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(rounds + 1):
        for name, command in commands.items():
            seconds[name].append(seconds_of(command, compiled))
    return {name: each[1:] for name, each in seconds.items()}


def seconds_of(arguments: Sequence[str], compiled: Path) -> float:
    """Processor seconds of a Python process with these arguments, including its children.

    Compiled modules are cached in a folder for the next process, as for an installed program,
    whatever the environment says: compiling takes a fifth of a second.

    Raises:
        CalledProcessError: The process failed; its output was printed.
    """
    environment = own_environment() | {"PYTHONPYCACHEPREFIX": str(compiled)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    before = os.times()
    subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.DEVNULL,
        check=True,
    )
    after = os.times()
    return (
        after.children_user + after.children_system - before.children_user - before.children_system
    )
