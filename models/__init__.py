"""Factories for embeddings and chat models; slow libraries are imported only where they are used.

ONNX Runtime and the libraries that load it are imported only below this package, so the variables
set here are in place before any of them reads the environment.
"""

import os

# ONNX Runtime queues events for its vendor and looks up a telemetry host on import; calling
# `disable_telemetry_events()` afterwards is too late.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
# The Hugging Face hub counts the downloads of fastembed's models.
os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
