"""What is found out about the stack of a program, once for all programs of a process.

`build`, `hil` and `report` each analyse the firmware that they compile, and many tests do that with
the same model. A result is kept by all that the analysis reads: the code, its symbols and marks,
and the .su files beside it. What the analysis refuses is not kept. ``tests/chips/avr`` calls it
itself.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import wraps
from typing import Any

from protonn_edge.chips.avr.program import LinkedProgram


def kept_stacks(analyse: Callable[..., Any]) -> Callable[..., Any]:
    """Return the analysis, with its results kept by the program and its .su files."""
    results: dict[Hashable, Any] = {}

    @wraps(analyse)
    def analysed(program: LinkedProgram, su_files: Any = ()) -> Any:
        files = [*su_files]
        notes = tuple((path.name, path.read_bytes()) for path in files)
        key = (program.code, program.symbols, program.marks, program.core, notes)
        if key not in results:
            results[key] = analyse(program, files)
        return results[key]

    return analysed
