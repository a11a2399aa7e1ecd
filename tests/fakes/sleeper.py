"""A process that writes its number into a folder and then does nothing."""

import os
import sys
import time
from pathlib import Path

if __name__ == "__main__":
    (Path(sys.argv[1]) / str(os.getpid())).touch()
    time.sleep(600)
