"""The kernels of a matrix product: ways of storing weights, and their costs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chips.cores import Core
from protonn_edge.codegen.kernels import kernel as base
from protonn_edge.codegen.kernels.kernel import code_bytes
from protonn_edge.codegen.kernels.listing import (
    Facts,
    Listing,
    Passed,
    bytes_of,
)
from protonn_edge.codegen.kernels.matvec import loops
from protonn_edge.codegen.kernels.matvec.products import product_cycles, unrolled
from protonn_edge.codegen.kernels.sums import ByteCode, started
from protonn_edge.model.layer import Scale
from protonn_edge.model.matvec import IntegerMatvec
from protonn_edge.model.matvec import packed as packed_weights

KernelName = Literal["columns", "unrolled", "packed"]
KERNELS: tuple[KernelName, ...] = ("columns", "unrolled", "packed")
_LOOPS = {"columns": loops.columns, "packed": loops.packed}
_SUM_CYCLES = 12  # of its begin and end


@dataclass(frozen=True, eq=False)
class Pass:
    """A pass over the inputs: a block of sums, and its weights (size, D) as a kernel has them."""

    kernel: KernelName
    block: loops.Block
    weights: NDArray[np.int8]
    largest: int
    begin: str  # instructions that load the initial sums
    end: str  # those for the finished ones

    @cached_property
    def listing(self) -> Listing:
        """Its instructions: a loop over the inputs, if weights are data."""
        if self.kernel == "unrolled":
            return loops.instructions(self.begin, self.end, self._instructions)
        return _LOOPS[self.kernel](self.block, self.begin, self.end)

    @cached_property
    def _instructions(self) -> list[str]:
        """The weights as instructions: many, which a plan counts without reading them all."""
        return unrolled(self.weights.T, self.largest, self.block.registers)[0]

    @cached_property
    def _mnemonics(self) -> Counter[str]:
        lines = (line for line in self._instructions if not line.endswith(":"))
        return Counter(line.split(None, 1)[0] for line in lines)

    @cached_property
    def _frame(self) -> Listing:
        """What is before and behind the instructions of the weights."""
        return loops.instructions(self.begin, self.end)

    @property
    def facts(self) -> Facts:
        """How often labels of the loop are passed."""
        if self.kernel == "unrolled":
            return {}
        n = self.weights.shape[1]
        counted = -(-n // (loops.COUNTED_IN_A_BYTE + 1))
        return {"input": Passed(n, n), "counted": Passed(counted, counted)}

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
            own = sum(bytes_of(each) * n for each, n in self._mnemonics.items())
            return 0, own + self._frame.code_bytes
        return sum(map(len, self.rows)), self.listing.code_bytes


@dataclass(frozen=True, eq=False)
class MatvecKernel(base.Kernel):
    """A kernel of a stage that begins with a product, for one way of storing weights."""

    names_plan: ClassVar[bool] = True
    ends_in: ClassVar[str] = "values"  # the variable of what it makes of sums in registers

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
        stage, together = self.stage, 2 if self.name == "packed" else 1
        biases = stage.bias + (0 if self.bytes is None else self.bytes.excess)
        return tuple(
            Pass(
                *(self.name, block, stage.weights[block.outputs], stage.input_maximum),
                "\n".join(started(block.sums, block.width, biases[block.outputs].tolist(), 22)),
                "\n".join(
                    ["ldi  r26, lo8(%[values])", "ldi  r27, hi8(%[values])", *self.ended(block)]
                ),
            )
            for block in loops.blocks_of(stage.n_sums, stage.accumulator_bits // 8, together)
        )

    @cached_property
    def bytes(self) -> ByteCode | None:
        """The instructions from sums to bytes; None if these are not what sums become."""
        scale = self.stage.scale
        registers = "r22", ("r30", "r31"), ("r23", "r24"), "r25"
        return ByteCode(scale, *registers) if isinstance(scale, Scale) else None

    def ended(self, block: loops.Block) -> list[str]:
        """Return what becomes of the finished sums of a block, at X: by default, bytes."""
        assert self.bytes is not None
        lines, output = self.bytes.begin, self.stage.output
        for k, low in enumerate(block.sums, block.first):
            limits = int(output.low[k]), int(output.high[k])
            lines += self.bytes.of(low + self.bytes.scale.dropped // 8, str(k), k, limits)
            lines.append(f"st   X+, {self.bytes.value}")
        return lines

    @property
    def state_bytes(self) -> int:
        """SRAM of what it makes, and of sums that do not stay in registers."""
        stage = self.stage
        values = stage.n_outputs * (1 if stage.scale else stage.output.bits // 8)
        sums = stage.n_sums * stage.accumulator_bits // 8
        return values if self.core.multiplies else max(values, sums)

    def cost(self, _: base.Feed | None, /) -> base.Cost:
        """Return its cost."""
        stage, of = self.stage, {"width": self.stage.accumulator_bits // 8}
        products = product_cycles(self.name, stage.weights, passes=len(self.passes), **of)
        weights, code = zip(*(each.bytes for each in self.passes), strict=True)
        return base.Cost(
            products + _SUM_CYCLES * stage.n_sums,
            tables=sum(weights),
            code=sum(code) + code_bytes(self),
            state=self.state_bytes,
        )
