"""Damaging ledgers, and telling whether a folder is as it was."""

import random
import sqlite3
from pathlib import Path

PAGE = 4096


def settled(ledger: Path) -> bytes:
    """The bytes of a ledger whose log is empty."""
    with sqlite3.connect(ledger) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return ledger.read_bytes()


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below the folder; links are not followed."""
    files = (file for file in folder.rglob("*") if file.is_file() and not file.is_symlink())
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


def flipped(whole: bytes, chance: random.Random) -> bytes:
    """The file with bytes, cells' heads or whole pages of it changed, or its end cut off."""
    data = bytearray(whole)
    page = chance.randrange(len(data) // PAGE) * PAGE
    match chance.randrange(6):
        case 0:
            data[page : page + PAGE] = bytes(PAGE)
        case 1:
            data[page : page + PAGE] = chance.randbytes(PAGE)
        case 2:
            other = chance.randrange(len(data) // PAGE) * PAGE
            data[page : page + PAGE] = data[other : other + PAGE]
        case 3:
            data[page + chance.randrange(12)] ^= 1 << chance.randrange(8)
        case 4:
            del data[chance.randrange(1, len(data)) :]
        case _:
            for place in chance.sample(range(len(data)), 20):
                data[place] = chance.randrange(256)
    return bytes(data)
