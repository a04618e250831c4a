"""The example's kernel: a loop in C that scales the values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from protonn_edge.codegen.kernels import compiled
from protonn_edge.codegen.kernels.kernel import Cost, Feed, Kernel
from scale.integers import FACTOR_BITS, IntegerScale

# A product takes as long as these turns of a loop that moves a byte.
_TURNS_OF_A_VALUE = 4


@dataclass(frozen=True, eq=False)
class ScaleKernel(Kernel):
    """Reads the factors from a table in flash; the template uses the public attributes."""

    shift: ClassVar[int] = FACTOR_BITS

    stage: IntegerScale
    name: str = "table"

    def cost(self, _: Feed | None, /) -> Cost:
        """Return the cost: all values take the same time."""
        n = self.stage.n_inputs
        cycles = compiled.TURN_CYCLES * _TURNS_OF_A_VALUE * n + compiled.calls(1, self.core)
        return self._with_code(cycles, n, state=n)


kernels = ScaleKernel.of
