"""What glibc's allocator says about the memory of this process."""

import ctypes
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

BLOCK_BYTES, BLOCKS = 100_000, 500
FREED_BYTES = BLOCK_BYTES * BLOCKS


class Allocator(ctypes.Structure):
    """`struct mallinfo2` of glibc's `malloc.h`; sizes are in bytes."""

    _fields_ = [
        ("arena", ctypes.c_size_t),
        ("ordblks", ctypes.c_size_t),
        ("smblks", ctypes.c_size_t),
        ("hblks", ctypes.c_size_t),
        ("hblkhd", ctypes.c_size_t),
        ("usmblks", ctypes.c_size_t),
        ("fsmblks", ctypes.c_size_t),
        ("uordblks", ctypes.c_size_t),
        ("fordblks", ctypes.c_size_t),
        ("keepcost", ctypes.c_size_t),
    ]

    @property
    def in_use(self) -> int:
        """The bytes of all blocks that are not free, with or without mappings of their own."""
        return self.uordblks + self.hblkhd


libc = ctypes.CDLL(None)
libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
libc.free.restype, libc.free.argtypes = None, [ctypes.c_void_p]


def allocator() -> Allocator:
    """The figures as of now; glibc only."""
    libc.mallinfo2.restype = Allocator
    return libc.mallinfo2()


@contextmanager
def memory_with_freed_blocks() -> Iterator[None]:
    """Within the context, glibc retains the memory of many freed blocks before one in use."""
    blocks = [libc.malloc(BLOCK_BYTES) for _ in range(BLOCKS)]
    for block in blocks:
        ctypes.memset(block, 1, BLOCK_BYTES)
    last = libc.malloc(BLOCK_BYTES)
    for block in blocks:
        libc.free(block)
    try:
        yield
    finally:
        libc.free(last)


def resident_bytes() -> int:
    """The memory of this process that is in physical memory; Linux only."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()
