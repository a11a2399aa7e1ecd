"""Processor time of one question on the command line, no chat model, over the sample documents.

The bound is a process that only imports the libraries which such a question needs. The two take
turns, so that both meet the same weather.
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
    del cache  # the model is built into the library's own folder
    report = Report(
        "A question on the command line",
        "user and system time of `cli.py ask` with the built-in embedding and no chat model over "
        f"the sample documents, medians of {rounds} processes each; before that, one import and "
        "one question",
    )
    with tempfile.TemporaryDirectory() as folder:
        data, compiled = Path(folder) / "data", Path(folder) / "compiled"
        question = ["cli.py", "ask", QUESTION, "--data-dir", str(data)]
        samples = str(ROOT / "sample_documents")
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
    """Processor seconds of each command by round; one round before is a warm-up."""
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(rounds + 1):
        for name, command in commands.items():
            seconds[name].append(seconds_of(command, compiled))
    return {name: each[1:] for name, each in seconds.items()}


def seconds_of(arguments: Sequence[str], compiled: Path) -> float:
    """What a Python process with these arguments and its children take of the processor.

    Compiled modules are kept in a folder for the next process, as those of an installed program
    are, whatever the environment says: compiling takes a fifth of a second.

    Raises:
        CalledProcessError: It failed; it has printed why.
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
