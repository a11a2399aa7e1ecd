"""These tests need file locks and process groups, which Windows lacks."""

import os

collect_ignore_glob = ["test_*.py"] if os.name == "nt" else []
