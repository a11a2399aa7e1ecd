"""A process that writes its id to a folder and sleeps."""

import os
import sys
import time
from pathlib import Path

if __name__ == "__main__":
    (Path(sys.argv[1]) / str(os.getpid())).touch()
    time.sleep(600)
