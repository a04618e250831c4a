"""Write the golden files anew: ``python tests/codegen/renew_golden.py``; read the difference.

One program is there to be read; that all others are right is what `tests/laws/conformance` checks.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from model_factory import sharp, tiny_integer_model

from protonn_edge.codegen.planner import plan_of
from protonn_edge.codegen.renderer import render_c
from protonn_edge.system.files import write_atomically

GOLDEN = Path(__file__).parent / "golden"


def program() -> dict[str, str]:
    """Return the files of a program that knows how sure it is."""
    chain = sharp(tiny_integer_model(), 8.0)
    return render_c(chain, plan_of(chain, {"projection": "columns"}))


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for file, text in program().items():
        write_atomically(GOLDEN / file, text)
