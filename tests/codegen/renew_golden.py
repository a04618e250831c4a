"""Write the golden files anew: ``python tests/codegen/renew_golden.py``; read the difference."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from model_factory import (
    tiny_deskew_model,
    tiny_gradients_model,
    tiny_integer_model,
    tiny_packed_model,
    tiny_pooling_model,
    tiny_windows_model,
)
from plans import plan_with

from protonn_edge.codegen import render_c
from protonn_edge.system.files import write_atomically

CASES = {
    "golden": (tiny_integer_model, "columns"),
    "golden_masked": (tiny_integer_model, "masked"),
    "golden_packed": (tiny_packed_model, "packed"),
    "golden_pooling": (tiny_pooling_model, "unrolled"),
    "golden_deskew": (tiny_deskew_model, "columns"),
    "golden_gradients": (tiny_gradients_model, "columns"),
    "golden_windows": (tiny_windows_model, "columns"),
}

if __name__ == "__main__":
    for folder, (model, kernel) in CASES.items():
        (Path(__file__).parent / folder).mkdir(exist_ok=True)
        for name, text in render_c(model(), plan_with(model(), kernel)).items():
            write_atomically(Path(__file__).parent / folder / name, text)
