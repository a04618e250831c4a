"""The kernels of a hidden layer: those of its product, whose sums become bytes in registers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from protonn_edge.codegen.kernels.matvec.kernels import MatvecKernel
from protonn_edge.codegen.kernels.matvec.loops import Block
from protonn_edge.codegen.kernels.sums import ByteCode
from protonn_edge.kinds.dense.integers import IntegerDense


@dataclass(frozen=True, eq=False)
class DenseKernel(MatvecKernel):
    """A hidden layer with weights in columns, as instructions, or two per byte."""

    ends_in: ClassVar[str] = "values"
    clobbered: ClassVar[tuple[str, ...]] = ("r30", "r31")

    stage: IntegerDense

    @cached_property
    def bytes(self) -> ByteCode:
        """The instructions from sums to bytes."""
        return ByteCode(self.stage.scale, "r22", "r23", ("r30", "r31"), "X+")

    def ended(self, block: Block) -> str:
        """Return the conversion of a block's sums to bytes."""
        dropped = self.stage.scale.dropped // 8
        names = {f"{block.number}_{low}": low + dropped for low in block.sums}
        lines = [line for name, low in names.items() for line in self.bytes.of(low, name)]
        return "\n".join([*self.bytes.begin, *lines])


kernels = DenseKernel.of
