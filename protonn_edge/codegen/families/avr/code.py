"""The machine code of programs for AVRs, which `avr` follows."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from protonn_edge.chips.avr import facts, functions, program, stack
from protonn_edge.codegen.families.family import MachineCode

if TYPE_CHECKING:
    from protonn_edge.chips.avr.paths import Paths


@dataclass(frozen=True)
class AVRCode(MachineCode):
    """The machine code of a program."""

    program: program.LinkedProgram

    def entries(self, name: str) -> Collection[int]:
        from protonn_edge.chips.avr.paths import no_function  # it takes SciPy

        found = self.program.names.copies_of(name)
        if not found:
            raise no_function(self.program, name)
        return found

    def labels(self) -> Mapping[str, Sequence[int]]:
        return facts.span_labels(self.program)

    def predictions(self) -> Collection[str]:
        return facts.predictions_of(self.program)

    def handlers(self) -> Mapping[int, int]:
        return functions.interrupt_handlers(self.program)

    def functions(self, entries: Collection[int]) -> Mapping[int, functions.Function]:
        return functions.functions_from(self.program, entries)

    def floats(self) -> Sequence[str]:
        return program.float_routines(self.program)

    def paths(self, entry: str) -> Paths:
        from protonn_edge.chips.avr.paths import paths_through  # it takes SciPy

        return paths_through(self.program, entry)

    def longest(
        self,
        starts: Mapping[int, int | tuple[int, int]],
        ends: Collection[int] = (),
        limits: Mapping[str, int] | None = None,
    ) -> int:
        from protonn_edge.chips.avr.paths import Times, longest_part  # it takes SciPy

        passed = {
            at: Times(*times) if isinstance(times, tuple) else Times(times, times)
            for at, times in starts.items()
        }
        return longest_part(self.program, passed, ends, limits or {}).cycles

    def stack(self, entry: str | None = None) -> int:
        if entry is None:
            return stack.worst_case_stack(self.program).bytes
        return stack.stack_of(self.program, entry)
