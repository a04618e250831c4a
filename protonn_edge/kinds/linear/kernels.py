"""The kernels of linear scores: those of the product, whose sums become scores in registers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from protonn_edge.codegen.kernels.matvec.kernels import MatvecKernel
from protonn_edge.codegen.kernels.matvec.loops import Block
from protonn_edge.kinds.linear.integers import IntegerLinear


@dataclass(frozen=True, eq=False)
class LinearKernel(MatvecKernel):
    """Scores with weights in columns, as instructions, or two per byte."""

    ends_in: ClassVar[str] = "scores"

    stage: IntegerLinear

    @property
    def from_sums(self) -> bool:
        """Whether scores differ from the sums, in number or in width."""
        stage = self.stage
        return stage.n_sums < stage.n_outputs or stage.accumulator_bits < stage.output.bits

    def ended(self, block: Block) -> list[str]:
        """Return the instructions that store the scores: in four bytes, sums that have three."""
        lines, signed = list[str](), self.stage.accumulator_bits == 24
        for low in block.sums:
            registers = [*range(low, low + block.width), *[20] * signed]
            if signed:
                lines += [f"mov  r20, r{low + 2}", "lsl  r20", "sbc  r20, r20"]
            if self.stage.n_sums < self.stage.n_outputs:
                for place, register in enumerate(registers):
                    lines += ["clr  r22", f"{'sbc' if place else 'sub'}  r22, r{register}"]
                    lines.append("st   X+, r22")
            lines += [f"st   X+, r{register}" for register in registers]
        return lines


kernels = LinearKernel.of
