"""What glibc's allocator says about the memory of this process."""

import ctypes


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
