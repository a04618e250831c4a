"""The example's kernel: a loop in C over the classes, for each value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from protonn_edge.codegen.kernels import compiled
from protonn_edge.codegen.kernels.kernel import Cost, Feed, Kernel
from protonn_edge.kinds.nearest_mean.integers import IntegerNearestMean

# A difference, its product and a sum of 32 bits take as long as these turns that move a byte.
_TURNS_OF_A_CLASS = 5


@dataclass(frozen=True, eq=False)
class NearestMeanKernel(Kernel):
    """Reads a feature's weight and means from a row of a table in flash."""

    names_plan: ClassVar[bool] = True

    stage: IntegerNearestMean
    name: str = "table"

    @property
    def rows(self) -> list[list[int]]:
        """The table: for each feature, its weight and the mean of each class."""
        return [
            [int(weight), *map(int, means)]
            for weight, means in zip(self.stage.weights, self.stage.means.T, strict=True)
        ]

    def cost(self, _: Feed | None, /) -> Cost:
        """Return its cost: all values take the same time."""
        n, classes = self.stage.n_inputs, self.stage.n_outputs
        cycles = compiled.TURN_CYCLES * n * (2 + _TURNS_OF_A_CLASS * classes)
        cycles += compiled.calls(1, self.core)
        state = classes * compiled.bytes_of("int32_t")
        return self._with_code(cycles, n * (1 + classes), state=state)


kernels = NearestMeanKernel.of
