"""A lock that lets only one thread at a time import LangChain."""

import threading
import warnings

LOADING = threading.RLock()
"""Hold it while importing a module that imports LangChain if other threads may do so too.

LangChain's packages have import cycles: if two threads start with different packages, one of them
gets a partially initialized module and fails with an ImportError.
"""

# Requests, which LangChain imports, ignores this warning too, but a thread that is importing
# FastAPI's routes may then restore the previous filters.
warnings.filterwarnings("ignore", "SOCKS support in urllib3 requires")
