"""Memory that a model has freed is returned to the operating system."""

import ctypes
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from models.model_files import return_freed_memory

BLOCK, BLOCKS = 100_000, 500
"""glibc retains blocks of this size while a later block is in use."""

ROOT = Path(__file__).parents[2]
IN_USE_AFTERWARDS = """
import sys
from pathlib import Path
from models.builtin import BuiltinEmbeddings
from models.builtin_models import MiniLM
from tests.fakes.allocator import allocator
cache_dir = Path(sys.argv[1])
embeddings = BuiltinEmbeddings(MiniLM(cache_dir), cache_dir, workers=1)
embeddings.embed_documents(["short"])
before = allocator().in_use
embeddings.embed_documents(["a long text " * n for n in range(20, 100, 10)])
print(allocator().in_use - before)
"""
NEW_PAGES = """
import resource, sys
from pathlib import Path
from commands.long_running import bound_memory
from models.builtin import BuiltinEmbeddings
from models.builtin_models import MiniLM
bound_memory()
cache_dir = Path(sys.argv[1])
embeddings = BuiltinEmbeddings(MiniLM(cache_dir), cache_dir, workers=1)
embeddings.embed_documents(["a long text " * 80])
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
embeddings.embed_documents(["a long text " * n for n in range(80, 100)])
print((resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) // 20)
"""


def resident_bytes():
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def number_from(script, *arguments):
    command = [sys.executable, "-c", script, *arguments]
    return int(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="about glibc")
def test_freed_memory_is_returned_to_the_operating_system():
    libc = ctypes.CDLL(None)
    libc.malloc.restype, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    blocks = [libc.malloc(BLOCK) for _ in range(BLOCKS)]
    for block in blocks:
        ctypes.memset(block, 1, BLOCK)
    *others, last = blocks
    for block in others:
        libc.free(block)
    before = resident_bytes()
    return_freed_memory()
    returned = before - resident_bytes()
    libc.free(last)
    assert returned > BLOCK * BLOCKS / 2


def test_nothing_happens_on_systems_without_the_call(monkeypatch):
    monkeypatch.setattr("sys.platform", "darwin")
    monkeypatch.setattr(ctypes, "CDLL", None)  # calling it would fail
    return_freed_memory()


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="about glibc")
def test_a_model_keeps_no_memory_of_long_texts(int8, cache_dir):
    int8.embed_query("prepared")
    assert number_from(IN_USE_AFTERWARDS, cache_dir) < 2**20


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="about glibc")
def test_long_texts_are_embedded_in_the_memory_of_the_texts_before_them(int8, cache_dir):
    int8.embed_query("prepared")
    assert number_from(NEW_PAGES, cache_dir) < 1000
