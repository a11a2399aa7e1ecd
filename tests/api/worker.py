"""Runs the imports that the API has queued, as a worker does."""


def run_queue(client):
    """Run all queued imports in this thread."""
    runs = 0
    while client.services.worker.run_next():
        runs += 1
        assert runs < 20, "the queue does not become empty"
