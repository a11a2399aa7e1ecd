"""Damages each file of an index in every way and checks the result.

    python -m tests.fakes.damage FOLDER KIND

Runs in a subprocess: Deep Lake or tantivy could crash if a damaged file ever reached them.
"""

import shutil
import sys
from pathlib import Path

from domain import LOCAL_USER, SearchMode
from domain.errors import DamagedIndexError
from services.search.search_service import SearchService
from services.search.searchable_library import PARTLY_DAMAGED
from services.search.searchable_library import Library as WholeLibrary
from storage.index_files import CHECKSUMS
from storage.index_reader import READABLE
from storage.ledger.passage_finder import LedgerFilter
from tests.fakes.library import DictLoader, Library

TEXTS = {f"{n:02}.txt": f"number {n} of the leave policy. " * 12 for n in range(6)}
MODE_OF_STORE = {"passages": SearchMode.SIMILARITY, "keywords": SearchMode.BM25}
"""A search mode that needs the store, by the store's folder."""


def truncated(data):
    return data[: len(data) // 2]


def flipped(data):
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 0xFF]) + data[middle + 1 :]


def zeroed(data):
    return bytes(len(data))


def emptied(_data):
    return b""


def extended(data):
    return data + b"\0"


KINDS = {
    "cut": truncated,
    "flipped": flipped,
    "zeroed": zeroed,
    "emptied": emptied,
    "grown": extended,
}
DELETED = "deleted"


def damage(file, kind):
    """Damage one file."""
    if kind == DELETED:
        file.unlink()
    else:
        file.write_bytes(KINDS[kind](file.read_bytes()))


def make_library(data_dir):
    """A library whose two stores have every kind of file."""
    library = Library(data_dir)
    library.load(DictLoader(TEXTS))
    library.load(DictLoader(TEXTS | {"00.txt": "this one was changed " * 12}))
    library.database.close()


def files_of(store):
    """All files that an index needs, without locks, notes, and the last writer."""
    files = [file for file in sorted(store.rglob("*")) if file.is_file()]
    return [
        file
        for file in files
        if not file.name.endswith(".lock")
        and file.name not in ("writer.json", READABLE)
        and file.parent.name != "changes"
    ]


def open_search(library, **options):
    """A search service as a newly started process has it."""
    whole = WholeLibrary(
        library.documents,
        library.access,
        library.indexes,
        library.stores,
        library.maintenance,
        Path("nowhere"),
        LedgerFilter(library.database),
    )
    return SearchService(whole, **options)


def search_keys(search, **options):
    return [one.metadata["key"] for one in search.search(LOCAL_USER, "number 3 leave", **options)]


def check_damage(data_dir, store, names, kind):
    """Damage these files of a store and check that the promised behavior holds."""
    library = Library(data_dir)
    folder = library.stores.folder(library.indexes.active().id) / store
    for name in names:
        damage(folder / name, kind)
    case = f"{kind}: {store}/{', '.join(names)}"

    report = library.check()
    for name in names:
        lines = [line for line in report.disagreements if f"{folder}/{name}" in line]
        assert lines or (folder / CHECKSUMS).name in names or len(names) > 1, f"{case}: {report}"
    assert any(str(folder) in line for line in report.disagreements), f"{case}: {report}"

    library.maintenance.recover()
    search = open_search(library)
    assert search_keys(search), f"{case}: the default mode finds nothing"
    notices = search.library.damage()
    assert str(folder) in notices[0], f"{case}: {notices}"
    assert notices[1] == PARTLY_DAMAGED
    assert set(search_keys(search, condition={"key": "03.txt"})) == {"03.txt"}, case
    for of, mode in MODE_OF_STORE.items():
        try:
            assert search_keys(search, mode=mode), f"{case}: {mode} finds nothing"
            assert of != store, f"{case}: {mode} answers"
        except DamagedIndexError as error:
            assert of == store, f"{case}: {error}"  # noqa: PT017 - either outcome is right
            assert "python cli.py reindex" in str(error)  # noqa: PT017

    library.reindex()
    assert library.check().agrees, case
    assert open_search(library).library.damage() == (), case
    library.database.close()


def cases(index, kind):
    """For each store, every file alone and all together."""
    for store in MODE_OF_STORE:
        names = [str(file.relative_to(index / store)) for file in files_of(index / store)]
        for name in names:
            is_list = name == CHECKSUMS
            if not (is_list and kind == DELETED) and (index / store / name).stat().st_size:
                yield store, [name]
        yield store, [name for name in names if (index / store / name).stat().st_size]


def main(folder, kind):
    whole = folder / "whole"
    if not whole.exists():
        make_library(whole)
    [index] = (whole / "indexes").iterdir()
    for number, (store, names) in enumerate(cases(index, kind)):
        print(store, *names, flush=True)  # noqa: T201 - the test reads the last case
        copy = folder / f"{kind}-{number}"
        shutil.copytree(whole, copy)
        check_damage(copy, store, names, kind)
        shutil.rmtree(copy)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
