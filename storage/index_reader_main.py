"""The program that reads a store of unknown origin for another process (`storage/index_reader.py`).

    python -P storage/index_reader_main.py STORE FOLDER PROCESSOR_S MEMORY_BYTES

It does everything that a search may do, and ends with the exit code 0 if nothing failed.
"""

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from domain.child_processes import (
    end_with_time,
    forbid_core_files,
    limit_memory,
    limit_processor_time,
)
from domain.errors import StorageError
from storage.index_reader import ELAPSED_PER_PROCESSOR_S, NO_MEMORY
from storage.keywords.segment_files import SegmentFiles
from storage.vectors.deep_lake import PassageFiles

_ROWS_AT_ONCE = 1024
_MARGIN_S = 10
"""The parent ends this process first, unless it has ended itself."""


def _read_passages(folder: Path) -> None:
    from storage.vectors.passage_dataset import PassageDataset, checked_dimension
    from storage.vectors.passage_rows import ROWS_PER_HANDLE

    try:
        checked_dimension(folder)
    except StorageError:
        return  # no process opens a store of another version
    dataset = PassageDataset.open(folder, read_only=False)
    dataset.refresh()
    rows = len(dataset.ids())
    for _metadata in dataset.metadata():
        pass
    for start in range(0, rows, ROWS_PER_HANDLE):
        handle = PassageDataset.open(folder, read_only=True)
        for first in range(start, min(start + ROWS_PER_HANDLE, rows), _ROWS_AT_ONCE):
            part = range(first, min(first + _ROWS_AT_ONCE, rows))
            handle.vectors(part.start, part.stop)
            handle.vectors_at(list(part))
            handle.texts_and_metadata(list(part))


def _read_words(folder: Path) -> None:
    import tantivy

    from storage.keywords.keyword_index import MAX_QUERY_TOKENS, best_hits, open_index, query_of

    searcher = open_index(folder / "index").searcher()
    everything = tantivy.Query.all_query()
    best_hits(searcher, everything, 0, max(1, searcher.num_docs))
    searcher.terms_with_prefix("id", "", everything)
    tokens = [token for token, _count in searcher.terms_with_prefix("tokens", "")]
    for start in range(0, len(tokens), MAX_QUERY_TOKENS):
        if query := query_of(searcher, tokens[start : start + MAX_QUERY_TOKENS]):
            searcher.search(query, 10, count=True)  # otherwise, it skips what has a low score
            best_hits(searcher, query, 0, 10)


_READERS: Mapping[str, Callable[[Path], None]] = {
    PassageFiles.what: _read_passages,
    SegmentFiles.what: _read_words,
}


def main() -> int:
    """Read the store, and return the exit code."""
    store, folder, processor_s, memory_bytes = sys.argv[1:]
    forbid_core_files()
    limit_processor_time(int(processor_s))
    limit_memory(int(memory_bytes))
    end_with_time(ELAPSED_PER_PROCESSOR_S * int(processor_s) + _MARGIN_S)
    try:
        _READERS[store](Path(folder))
    except MemoryError:
        return NO_MEMORY
    return 0


if __name__ == "__main__":
    code = main()
    os._exit(code)  # does not wait for the threads of libraries
