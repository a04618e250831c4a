"""The loop, in C, that counts the responses of kernels in a window that the device holds."""

from __future__ import annotations

from dataclasses import dataclass

from protonn_edge.codegen.kernels import compiled
from protonn_edge.codegen.kernels.kernel import Cost, Feed, Kernel
from protonn_edge.features.kernels.integers import BIASES, IntegerKernels

# a struct kernel of the template: taps, weight, channel, positions, biases, and least and factors
KERNEL_BYTES = 6 + compiled.bytes_of(*["int16_t"] * BIASES) + 2 * BIASES

# A position takes as long as these turns of a loop that moves a byte.
_TURNS_OF_A_POSITION = 4


@dataclass(frozen=True, eq=False)
class CountingKernel(Kernel):
    """Computes each response once, for all biases of its kernel."""

    stage: IntegerKernels
    name: str = "held"

    @property
    def all_positions(self) -> int:
        """Positions of all kernels together."""
        return int(self.stage.positions.sum())

    @property
    def rows(self) -> list[list[int]]:
        """The numbers of each kernel, in the order of the struct."""
        stage, bank = self.stage, self.stage.bank
        numbers = zip(
            bank.taps.tolist(),
            bank.weights.tolist(),
            bank.channels.tolist(),
            stage.positions.tolist(),
            strict=True,
        )
        rest = bank.biases, stage.least, stage.factors
        ends = zip(*(each.tolist() for each in rest), strict=True)
        return [
            [*taps, *others, *biases, *least, *factors]
            for (taps, *others), (biases, least, factors) in zip(numbers, ends, strict=True)
        ]

    def cost(self, feed: Feed | None, /) -> Cost:
        """Return its cost: all windows take about the same time."""
        n = self.stage.n_outputs
        turns = _TURNS_OF_A_POSITION * self.all_positions + 3 * n
        turns += 0 if feed is None or feed.held else self.stage.n_inputs
        cycles = compiled.TURN_CYCLES * turns + compiled.calls(n, self.core)
        return self._with_code(cycles, KERNEL_BYTES * len(self.stage.bank), state=n)


kernels = CountingKernel.of
