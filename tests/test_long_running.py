"""The memory of long-running processes stays bounded, and they may open enough files."""

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
THREADS = 32
ARENAS = f"""
import ctypes, sys, threading
from commands.long_running import bound_memory
if sys.argv[1] == "bounded":
    bound_memory()
libc, together = ctypes.CDLL(None), threading.Barrier({THREADS})
def allocate():
    together.wait()
    libc.malloc(100_000)
    together.wait()
threads = [threading.Thread(target=allocate) for _ in range({THREADS})]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
libc.fdopen.restype = ctypes.c_void_p
output = ctypes.c_void_p(libc.fdopen(1, b"w"))
libc.malloc_info(0, output)
libc.fflush(output)
"""
MAPPED = """
import sys
from commands.long_running import bound_memory
from tests.fakes.allocator import allocator, libc
if sys.argv[1] == "bounded":
    bound_memory()
libc.free(libc.malloc(16 * 2**20))
before = allocator().hblks
block = libc.malloc(2**20)
print(allocator().hblks - before)
"""
COLLECTED = """
import gc
from commands.long_running import bound_memory
usual = gc.get_threshold()
gc.set_threshold(50_000)
bound_memory()
print(gc.get_threshold() == usual)
"""

LIMITED = """
import resource, sys
from commands.long_running import allow_open_files
most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
hard = most if sys.argv[1] == "high" else 512
resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
allow_open_files()
print(resource.getrlimit(resource.RLIMIT_NOFILE) == (min(hard, 10_240), hard))
"""


def output_of(script, *arguments):
    command = [sys.executable, "-c", script, *arguments]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    ).stdout


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="this system does not use glibc")
def test_many_threads_share_few_memory_arenas():
    at_most = max(2, os.cpu_count())
    assert output_of(ARENAS, "bounded").count("<heap nr=") <= at_most
    assert output_of(ARENAS, "unbounded").count("<heap nr=") > at_most


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="this system does not use glibc")
def test_a_large_block_has_its_own_mapping_even_after_a_larger_one_was_freed():
    assert output_of(MAPPED, "bounded").strip() == "1"
    assert output_of(MAPPED, "unbounded").strip() == "0"


def test_garbage_is_collected_as_often_as_python_does():
    assert output_of(COLLECTED).strip() == "True"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have other limits")
@pytest.mark.parametrize("hard", ["high", "low"])
def test_a_server_may_open_as_many_files_as_the_system_permits(hard):
    assert output_of(LIMITED, hard).strip() == "True"
