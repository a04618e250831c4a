"""Files of the optional data sets, which lie in the folder that PROTONN_EDGE_DATA names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from checkout import CHECKOUT


def data_file(name: str) -> Path:
    """Return where a file is; skip the test where it is not there."""
    path = (CHECKOUT / os.environ.get("PROTONN_EDGE_DATA", "../shared/data") / name).resolve()
    if not path.is_file():
        pytest.skip(f"{name} is not there; to run: set PROTONN_EDGE_DATA to a folder that has it")
    return path
