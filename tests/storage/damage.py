"""Helpers that damage ledgers and compare folders."""

import random
import sqlite3
from pathlib import Path

PAGE = 4096


def checkpoint(ledger: Path) -> bytes:
    """Write the log back to the ledger and return the ledger's bytes."""
    with sqlite3.connect(ledger) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return ledger.read_bytes()


def contents(folder: Path) -> dict[str, bytes]:
    """The bytes of every file below the folder, by relative path; links are not followed."""
    files = (file for file in folder.rglob("*") if file.is_file() and not file.is_symlink())
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


def corrupt(original: bytes, rng: random.Random) -> bytes:
    """A copy with random bytes, page headers, or pages changed, or truncated."""
    data = bytearray(original)
    page = rng.randrange(len(data) // PAGE) * PAGE
    match rng.randrange(6):
        case 0:
            data[page : page + PAGE] = bytes(PAGE)
        case 1:
            data[page : page + PAGE] = rng.randbytes(PAGE)
        case 2:
            other = rng.randrange(len(data) // PAGE) * PAGE
            data[page : page + PAGE] = data[other : other + PAGE]
        case 3:
            data[page + rng.randrange(12)] ^= 1 << rng.randrange(8)
        case 4:
            del data[rng.randrange(1, len(data)) :]
        case _:
            for position in rng.sample(range(len(data)), 20):
                data[position] = rng.randrange(256)
    return bytes(data)
