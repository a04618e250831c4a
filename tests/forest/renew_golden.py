"""Write the golden files anew: ``python tests/forest/renew_golden.py``; read the difference."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from forest_factory import tiny_chain

from protonn_edge.codegen import render_c
from protonn_edge.codegen.planner import plan_of
from protonn_edge.system.files import write_atomically

CASES = {
    "golden": ("shares", "walk"),
    "golden_scores": ("scores", "walk"),
    "golden_votes": ("votes", "walk"),
    "golden_if_else": ("votes", "if-else"),
    "golden_if_else_scores": ("scores", "if-else"),
}


def rendered(leaves: str, kernel: str) -> dict[str, str]:
    """Return the files of the tiny model with such leaves, and a kernel."""
    chain = tiny_chain(leaves)
    return render_c(chain, plan_of(chain, {"forest": kernel}))


if __name__ == "__main__":
    for folder, case in CASES.items():
        (Path(__file__).parent / folder).mkdir(exist_ok=True)
        for name, text in rendered(*case).items():
            write_atomically(Path(__file__).parent / folder / name, text)
