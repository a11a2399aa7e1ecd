"""Loading the libraries that answering needs: by one thread at a time."""

import threading
import warnings

LOADING = threading.RLock()
"""To be held while a module is loaded that loads LangChain, where other threads may do so too.

Its packages load each other in circles: of two threads that begin at different ends, one is handed
a module that is only half there, and fails with an ImportError.
"""

# Requests, which LangChain loads, silences this itself: in vain where another thread that loads
# FastAPI's routes puts the filters of warnings back, as they were, amid the loading.
warnings.filterwarnings("ignore", "SOCKS support in urllib3 requires")
