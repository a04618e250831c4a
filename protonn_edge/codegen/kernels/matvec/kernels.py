"""The kernels of a matrix product: ways of storing weights, and their costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chips.cores import Core
from protonn_edge.codegen.kernels import kernel as base
from protonn_edge.codegen.kernels.kernel import code_bytes
from protonn_edge.codegen.kernels.listing import (
    BEGIN,
    END,
    Facts,
    Listing,
    Passed,
    bytes_of,
    cycles_of,
)
from protonn_edge.codegen.kernels.matvec import loops
from protonn_edge.codegen.kernels.matvec.products import unrolled
from protonn_edge.model.matvec import IntegerMatvec
from protonn_edge.model.matvec import packed as packed_weights

KernelName = Literal["columns", "unrolled", "packed"]
KERNELS: tuple[KernelName, ...] = ("columns", "unrolled", "packed")
_LOOPS = {"columns": loops.columns, "packed": loops.packed}


@dataclass(frozen=True, eq=False)
class Pass:
    """A pass over the inputs: a block of sums, and its weights (size, D) as a kernel has them."""

    kernel: KernelName
    block: loops.Block
    weights: NDArray[np.int8]
    largest: int

    @cached_property
    def listing(self) -> Listing:
        """Its instructions: a loop over the inputs, if weights are data."""
        if self.kernel == "unrolled":
            return loops.instructions(self.block, self._instructions)
        return _LOOPS[self.kernel](self.block)

    @cached_property
    def _instructions(self) -> list[str]:
        """The weights as instructions: many, which a plan counts without reading them all."""
        return unrolled(self.weights.T, self.largest, self.block.registers)[0]

    @cached_property
    def _mnemonics(self) -> Counter[str]:
        lines = (line for line in self._instructions if not line.endswith(":"))
        return Counter(line.split(None, 1)[0] for line in lines)

    def _products(self, of: Callable[[str], int]) -> int:
        """Return the sum over the instructions of the weights."""
        return sum(of(each) * n for each, n in self._mnemonics.items())

    @cached_property
    def _frame(self) -> Listing:
        """What is before and behind the instructions of the weights."""
        return loops.instructions(self.block)

    @property
    def facts(self) -> Facts:
        """How often labels of the loop are passed."""
        if self.kernel == "unrolled":
            return {}
        n = self.weights.shape[1]
        counted = -(-n // (loops.COUNTED_IN_A_BYTE + 1))
        return {"input": Passed(n, n), "counted": Passed(counted, counted)}

    @cached_property
    def cycles(self) -> int:
        """Cycles of a call for inputs none of which is 0, besides the compiler's code."""
        if self.kernel == "unrolled":
            return self._products(cycles_of) + self._frame.path(BEGIN, [END], {})
        return loops.cycles_of(self.listing, self.weights.shape[1])

    @property
    def rows(self) -> list[list[int]]:
        """The weights as data, a row per input."""
        if self.kernel == "packed":
            rows: list[list[int]] = packed_weights(self.weights).tolist()
            return rows
        plain: list[list[int]] = self.weights.T.tolist()
        return plain

    @cached_property
    def bytes(self) -> tuple[int, int]:
        """Flash of the weights, and of the code that reads them."""
        if self.kernel == "unrolled":
            return 0, self._products(bytes_of) + self._frame.code_bytes
        return sum(map(len, self.rows)), self.listing.code_bytes


def passes_of(
    weights: NDArray[np.int8], width: int, maximum: int, kernel: KernelName
) -> tuple[Pass, ...]:
    """Return the passes for weights (d, D), inputs up to `maximum`, and sums of `width` bytes."""
    together = 2 if kernel == "packed" else 1
    blocks = loops.blocks_of(len(weights), width, together)
    return tuple(
        Pass(kernel, each, weights[each.first : each.last + 1], maximum) for each in blocks
    )


@dataclass(frozen=True, eq=False)
class MatvecKernel(base.Kernel):
    """A kernel of a stage that begins with a product, for one way of storing weights."""

    names_plan: ClassVar[bool] = True

    stage: IntegerMatvec
    name: KernelName

    @classmethod
    def of(cls, stage: IntegerMatvec, core: Core) -> tuple[base.Kernel, ...]:
        """Return a kernel for each way of storing W: instructions only if the chip multiplies."""
        able = {"unrolled": core.multiplies, "packed": stage.packs}
        return tuple(cls(stage, core, name) for name in KERNELS if able.get(name, True))

    @cached_property
    def passes(self) -> tuple[Pass, ...]:
        """The passes over the inputs."""
        stage = self.stage
        return passes_of(stage.weights, stage.accumulator_bits // 8, stage.input_maximum, self.name)

    @property
    def sum_bytes(self) -> int:
        """Bytes of all sums."""
        return self.stage.n_sums * self.stage.accumulator_bits // 8

    def _cost(self, behind: float, *, tables: int = 0, state: int = 0) -> base.Cost:
        """Return the cost of the product, and of what is behind it: its cycles, and more bytes."""
        weights, code = zip(*(each.bytes for each in self.passes), strict=True)
        return base.Cost(
            sum(each.cycles for each in self.passes) + behind,
            tables=sum(weights) + self.sum_bytes + tables,
            code=sum(code) + code_bytes(self),
            state=self.sum_bytes + state,
        )

    @property
    def facts(self) -> Facts:
        """The passes of a loop over the finished sums."""
        return {"sum": Passed(self.stage.n_sums, self.stage.n_sums)}
