"""Processes that move a ledger or an index, and kill themselves at a point of the move.

    python -m tests.fakes.moving FOLDER

Each line of the input is a request as JSON, for which the process forks; each line of the output is
the exit code of the fork.
"""

import json
import os
import signal
import subprocess
import sys
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from functools import wraps
from itertools import count
from pathlib import Path
from pkgutil import resolve_name

from storage.ledger import ledger_copy
from storage.ledger.ledger_move import LedgerMove

ROOT = Path(__file__).parents[2]
LIBRARY = "a" * 32
KILLED = -signal.SIGKILL


@dataclass(frozen=True)
class Point:
    """The beginning of a call of a function, or its end; the first call has the number 1.

    `name` is that of a module and a function or method in it, such as `pathlib:Path.touch`.
    """

    name: str
    number: int = 1
    is_end: bool = False

    def __str__(self) -> str:
        return f"{'end' if self.is_end else 'begin'} {self.number} of {self.name.split(':')[1]}"


class Mover:
    """Performs moves in processes of their own."""

    def __init__(self, process):
        self._process = process

    def move_ledger(self, old, new, point=None, *, copies=2):
        """The exit code of moving the ledger; `copies` is the number of copies before the end."""
        return self._call(kind="ledger", old=old, new=new, copies=copies, point=point)

    def move_index(self, engine, url, alias, point=None):
        """The exit code of moving the index."""
        return self._call(kind="index", engine=engine, url=url, alias=alias, point=point)

    def _call(self, *, point, **request):
        request["point"] = point and asdict(point)
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())


@contextmanager
def mover(folder):
    """A mover for the library in a data folder."""
    command = [sys.executable, "-m", "tests.fakes.moving", str(folder)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True) as process:
        yield Mover(process)


def _kill_at(name, number, *, is_end):
    owner, _, attribute = name.replace(":", ".").rpartition(".")
    if "." in name.split(":")[1]:
        owner = ":".join(owner.rsplit(".", 1))
    target = resolve_name(owner)
    calls, original = count(1), getattr(target, attribute)

    @wraps(original)
    def killing(*arguments, **keywords):
        is_last = next(calls) == number
        if is_last and not is_end:
            os.kill(os.getpid(), signal.SIGKILL)
        result = original(*arguments, **keywords)
        if is_last:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(target, attribute, killing)


def _move_ledger(folder, old, new, copies):
    ledger_copy._BATCH_ROWS = 5
    with closing(LedgerMove(folder, LIBRARY, old, new)) as move:
        if not move.is_complete():
            move.prepare()
            for _copy in range(copies):
                move.copy(_ignore)
            move.finish(_ignore)


def _move_index(folder, engine, url, alias):
    # Imported here, so that the process from which the others fork stays small.
    from domain import LOCAL_USER
    from services.imports import index_copy
    from services.migration.index_migration import IndexMigration
    from storage.opensearch.connection import SearchServer
    from storage.opensearch.search_cluster import SearchCluster
    from tests.fakes.library import Library

    index_copy._DOCUMENTS_PER_STEP = 3
    library = Library(folder, cluster=SearchCluster(SearchServer((url,)), alias))
    IndexMigration(library.database, library.stores).run(LOCAL_USER, engine)


def _ignore(_progress):
    pass


def _perform(folder, request):
    if point := request.pop("point"):
        _kill_at(**point)
    perform = {"ledger": _move_ledger, "index": _move_index}[request.pop("kind")]
    perform(folder, **request)


def main(folder):
    for line in sys.stdin:
        if not (child := os.fork()):
            _perform(folder, json.loads(line))
            return
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
