"""Factories for embeddings and chat models; a slow library is imported only where it is used.

ONNX Runtime and the libraries that load it are imported below this package only, so what it sets
here is in place before any of them reads it.
"""

import os

# ONNX Runtime queues events for its vendor and looks up a telemetry host as soon as it is imported;
# `disable_telemetry_events()` afterwards comes too late.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
# The Hugging Face hub counts the downloads of fastembed's models.
os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
