"""Serves requests of a test in a thread."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from socketserver import BaseServer

POLL_S = 0.02
"""How often a server checks whether it must stop; a test waits that long at its end."""
WAIT_S = 5


@contextmanager
def serving_in_thread(server: BaseServer) -> Iterator[None]:
    """Serve requests until the end of the block, then close the server."""
    thread = threading.Thread(target=server.serve_forever, args=(POLL_S,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join(WAIT_S)
