"""Write the golden files anew: ``python tests/codegen/renew_golden.py``; read the difference."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from model_factory import tiny_integer_model

from protonn_edge.codegen import render_c
from protonn_edge.files import write_atomically

if __name__ == "__main__":
    for name, text in render_c(tiny_integer_model()).items():
        write_atomically(Path(__file__).parent / "golden" / name, text)
