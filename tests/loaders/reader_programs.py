"""Programs in place of the reader process's own, which misbehave in one way each."""

_READY = """
import os, signal, sys, time
from loaders.reader_frames import read_frame, write_frame

out = sys.stdout.buffer
write_frame(out, {})
"""
_REQUEST = """
header, data = read_frame(sys.stdin.buffer)
name = header["arguments"]["name"]
"""

READS_ALL_BUT_BAD = f"""{_READY}
while True: {_REQUEST.replace(chr(10), chr(10) + "    ")}
    METADATA = {{"title": name, "format": "txt", "encoding": None, "pages": [], "warnings": []}}
    if name == "bad.txt":
        BEHAVIOR
    write_frame(out, {{"result": METADATA}}, data)
"""


def program(behavior: str) -> str:
    """A program that returns each file as its text, but for bad.txt executes these statements."""
    return READS_ALL_BUT_BAD.replace("BEHAVIOR", behavior.replace("\n", "\n        "))
