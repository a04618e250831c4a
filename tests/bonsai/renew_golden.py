"""Write the golden files anew: ``python tests/bonsai/renew_golden.py``; read the difference."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from bonsai_factory import tiny_bonsai_chain, tiny_kernel_chain

from protonn_edge.codegen import render_c
from protonn_edge.codegen.planner import plan_of
from protonn_edge.system.files import write_atomically

CASES = {"golden": tiny_bonsai_chain(), "golden_sparse": tiny_kernel_chain()}


def rendered(folder: str) -> dict[str, str]:
    """Return the files of a tiny model."""
    return render_c(CASES[folder], plan_of(CASES[folder], {}))


if __name__ == "__main__":
    for folder in CASES:
        (Path(__file__).parent / folder).mkdir(exist_ok=True)
        for name, text in rendered(folder).items():
            write_atomically(Path(__file__).parent / folder / name, text)
