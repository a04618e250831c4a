"""What is found out about a linked program, once for all tests of a process that link the same.

`build`, `hil` and `report` each analyse the firmware that they compile, and many tests do that with
the same model. A result is kept by all that the analysis reads: the code, its symbols and marks,
and the files beside it. What the analysis refuses is not kept. ``tests/avr`` calls it itself.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import wraps
from typing import Any

from protonn_edge.chips.avr.program import LinkedProgram


def kept_analyses(analyse: Callable[..., Any], rest: Callable[..., Hashable]) -> Callable[..., Any]:
    """Return the analysis, with its results kept by the program and `rest` of the arguments."""
    results: dict[Hashable, Any] = {}

    @wraps(analyse)
    def analysed(program: LinkedProgram, *arguments: Any, **named: Any) -> Any:
        own = (program.code, program.symbols, program.marks, program.core)
        key = (own, rest(*arguments, **named))
        if key not in results:
            results[key] = analyse(program, *arguments, **named)
        return results[key]

    return analysed


def of_stack(su_files: Any) -> Hashable:
    """Return what else `worst_case_stack` depends on: the names and lines of .su files."""
    return tuple((path.name, path.read_bytes()) for path in su_files)


def of_paths(spans: Any, board: Any) -> Hashable:
    """Return what else the paths of spans depend on."""
    return tuple(spans.items()), board
