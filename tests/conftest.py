"""What holds for all tests."""

from __future__ import annotations

import os

from hypothesis import settings

# The same examples on every run and no deadline: a test fails by its code, not by chance or load.
settings.register_profile("protonn-edge", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("protonn-edge")

# Figures are drawn into files, never onto a screen.
os.environ.setdefault("MPLBACKEND", "Agg")

# A bug of the package fails a test with its traceback, and is no sentence that a test could take
# for a refusal.
os.environ.setdefault("PROTONN_EDGE_TRACEBACK", "1")
