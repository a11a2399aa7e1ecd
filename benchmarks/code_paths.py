"""Files and functions of the program that a question and an imported file run through.

    python -m benchmarks.code_paths [first|question|command|file ...] [--list]

Each path is measured in a process of its own, over a library of one document, without a chat model:

    first     `ChatService.ask`, from the call to the stored turn: the first question of a process,
              which also builds the services and loads the index and the embedding
    question  the same for a later question of that process
    command   `cli.py ask`, from `main` to the printed answer
    file      one Markdown file of a folder source, from `Worker.run_next` to the finished import

Counting rule: a function counts once it is entered during that call, in any thread, if its code is
in a file of the program (not in tests, benchmarks, migrations or a library). Methods, properties,
closures, lambdas and generators are functions. Comprehensions, bodies of modules and classes, and
methods that `dataclass` or `NamedTuple` generates are not. A file counts once one of its functions
does: a file that only holds data or types does not.
"""

import argparse
import contextlib
import inspect
import io
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FrameType

from benchmarks.afresh import ROOT, call_afresh, own_environment
from bootstrap import Services, build_services
from domain import LOCAL_USER
from settings import load_settings

EARLIER = "Who gets annual leave?"
QUESTION = "How many days of annual leave do employees get?"
PAGE = "# Annual leave\n\nEmployees get 25 days of annual leave per calendar year.\n"
_OUTSIDE = {"tests", "benchmarks", "migrations"}
_EXPRESSIONS = {"<genexpr>", "<listcomp>", "<dictcomp>", "<setcomp>"}


class Recorder:
    """Collects the functions of the program that are entered during recording."""

    def __init__(self) -> None:
        self.entered: set[tuple[str, str, int]] = set()
        self._seen: set[CodeType] = set()

    @contextlib.contextmanager
    def recording(self) -> Iterator[None]:
        """Record functions of this thread and of the threads started in the meantime."""
        threading.setprofile(self._profile)
        sys.setprofile(self._profile)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    def _profile(self, frame: FrameType, event: str, _argument: object) -> None:
        code = frame.f_code
        if event != "call" or code in self._seen:
            return
        self._seen.add(code)
        file = _file_of(code)
        if file and code.co_flags & inspect.CO_OPTIMIZED and code.co_name not in _EXPRESSIONS:
            self.entered.add((file, code.co_qualname, code.co_firstlineno))


def _file_of(code: CodeType) -> str:
    """The path within the program; "" for other files."""
    path = Path(code.co_filename)
    if not path.is_relative_to(ROOT):
        return ""
    parts = path.relative_to(ROOT).parts
    outside = parts[0] in _OUTSIDE or parts[0].startswith(".")
    return "" if outside else "/".join(parts)


def measure_first(folder: Path) -> Recorder:
    """The first question of a process."""
    _import_page(folder)
    return _ask(_services(folder))


def measure_question(folder: Path) -> Recorder:
    """A later question of the same kind."""
    _import_page(folder)
    services = _services(folder)
    services.chat.ask(LOCAL_USER, EARLIER)
    return _ask(services)


def _ask(services: Services) -> Recorder:
    recorder, chat = Recorder(), services.chat
    with recorder.recording():
        turn = chat.ask(LOCAL_USER, QUESTION)
    if not turn.citations:
        raise RuntimeError("the question was not answered")
    return recorder


def measure_command(folder: Path) -> Recorder:
    """The same question on the command line."""
    import cli

    _import_page(folder)
    recorder, printed = Recorder(), io.StringIO()
    sys.argv[1:] = ["ask", QUESTION, "--data-dir", str(folder / "data")]
    with (
        contextlib.redirect_stdout(printed),
        contextlib.suppress(SystemExit),
        recorder.recording(),
    ):
        cli.main()
    if "25 days" not in printed.getvalue():
        raise RuntimeError("the question was not answered")
    return recorder


def measure_file(folder: Path) -> Recorder:
    """A file of a source with a queued import, run by a worker."""
    from services.sources.source_service import SourceSettings

    services = _services(folder)
    path = {"path": str(_write_page(folder))}
    source = services.sources.add(LOCAL_USER, "directory", path, SourceSettings()).source
    services.queue.enqueue(LOCAL_USER, source.id)
    recorder = Recorder()
    with recorder.recording():
        services.worker.run_next()
    if services.library.status(LOCAL_USER).documents != 1:
        raise RuntimeError("the file was not imported")
    return recorder


def _services(folder: Path) -> Services:
    return build_services(load_settings(data_dir=folder / "data"))


def _write_page(folder: Path) -> Path:
    documents = folder / "documents"
    documents.mkdir()
    (documents / "leave.md").write_text(PAGE, encoding="utf-8")
    return documents


def _import_page(folder: Path) -> None:
    """In a subprocess, so that nothing is already loaded."""
    command = [sys.executable, "cli.py", "import", str(_write_page(folder)), "--data-dir"]
    subprocess.run(
        [*command, str(folder / "data")],
        cwd=ROOT,
        env=own_environment(),
        check=True,
        stdout=subprocess.DEVNULL,
    )


def count(path: str) -> list[tuple[str, str, int]]:
    """Functions of that path, with file and line; called in a subprocess."""
    with tempfile.TemporaryDirectory(prefix="footnote-paths-") as folder:
        return sorted(_PATHS[path](Path(folder)).entered)


_PATHS: dict[str, Callable[[Path], Recorder]] = {
    "first": measure_first,
    "question": measure_question,
    "command": measure_command,
    "file": measure_file,
}


def main() -> None:
    """Print a line for each path, and with `--list` its functions by file."""
    parser = argparse.ArgumentParser(description="Count the files and functions of the paths.")
    parser.add_argument("paths", nargs="*", choices=[[], *_PATHS], help="all if none is named")
    parser.add_argument("--list", action="store_true", help="name the functions too")
    options = parser.parse_args()
    for path in options.paths or _PATHS:
        entered = call_afresh("benchmarks.code_paths:count", path=path)
        files = [file for file, _, _ in entered]
        print(f"{path:10} {len(set(files)):4} files {len(entered):5} functions")
        for file in sorted(set(files)) if options.list else ():
            names = sorted((line, name) for of, name, line in entered if of == file)
            print(f"  {file} ({len(names)})\n    " + "\n    ".join(name for _, name in names))


if __name__ == "__main__":
    main()
