"""What `verify` and `hil` do and say about the library's own way in."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.boards import Board
from protonn_edge.cli.command import Output
from protonn_edge.codegen import Float32Plan, Plan
from protonn_edge.library_check import LibraryCheck, LibraryWay, check_library
from protonn_edge.model import ProtoNNModel
from protonn_edge.quantization import DeviceModel

_FIRST_SHOWN = 5


def library_check(
    out: Output,
    model: ProtoNNModel,
    reference: DeviceModel,
    plan: Plan | Float32Plan | None,
    board: Board,
    points: tuple[NDArray[Any], NDArray[np.int64]],
) -> LibraryCheck:
    """Run points through the library's own way in, with a bar, and say what came of it."""
    way = LibraryWay(reference, *points)
    with out.progress("through pnn_quantize", len(points[1])) as bar:
        check = check_library(model, way, plan, board, lambda _: bar.advance())
    out.say(_sentence(check))
    return check


def _sentence(check: LibraryCheck) -> str:
    ways = " = ".join(
        ["NumPy", *(each.execution.split(" through")[0] for each in check.agreements)]
    )
    n = len(check.differing)
    first = ", ".join(map(str, check.differing[:_FIRST_SHOWN]))
    differing = f"{n:,} of {check.n:,} points have another class" + (
        f" (first {first}{', ...' if n > _FIRST_SHOWN else ''})" if n else ""
    )
    left_out = f"; not on the emulated board: {check.left_out}" if check.left_out else ""
    return (
        f"through pnn_quantize, as a sketch: accuracy {100 * check.library_accuracy:.2f} % "
        f"({100 * check.accuracy:.2f} % without), {differing}; {ways}{left_out}"
    )
