"""The kernels of a forest: a walk through a table, the same in fewer bytes, or instructions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from protonn_edge.chips.cores import Core
from protonn_edge.codegen.kernels.kernel import Kernel
from protonn_edge.codegen.kernels.listing import Facts, Listing
from protonn_edge.kinds.forest import IF_ELSE, LEAF_LISTS
from protonn_edge.kinds.forest.if_else import ByteTests, IfElse, can_be_instructions
from protonn_edge.kinds.forest.integers import IntegerForest
from protonn_edge.kinds.forest.leaves import leaf_codes
from protonn_edge.kinds.forest.packed_kernel import PackedKernel
from protonn_edge.kinds.forest.walk import ForestKernel


@dataclass(frozen=True, eq=False)
class IfElseKernel(ForestKernel):
    """Nodes are instructions."""

    is_instructions: ClassVar[bool] = True

    name: str = IF_ELSE

    @property
    def code(self) -> IfElse:
        """The instructions."""
        return if_else_of(self.stage)[self.name]

    @property
    def listing(self) -> Listing:
        """The instructions."""
        return self.code.written.listing

    @property
    def facts(self) -> Facts:
        """How often loops over lists are passed."""
        return self.code.facts

    @property
    def changed(self) -> tuple[str, ...]:
        """The registers that the instructions change."""
        return self.code.registers

    @property
    def table_bytes(self) -> int:
        """Flash of the lists of what leaves add."""
        return len(self.lists)

    @property
    def lists(self) -> bytes:
        """The lists of what leaves add, if any."""
        return self.code.leaves.content


@lru_cache(maxsize=8)
def if_else_of(stage: IntegerForest) -> dict[str, IfElse]:
    """Return the instructions of a stage by kernel, cached because all its plans share them."""
    if not can_be_instructions(stage.table):
        return {}
    codes = {LEAF_LISTS if each.moves else IF_ELSE: each for each in leaf_codes(stage.table)}
    tests = ByteTests(stage.table)
    return {name: IfElse(leaves, tests) for name, leaves in codes.items()}


def kernels(stage: IntegerForest, core: Core) -> tuple[Kernel, ...]:
    """Return the kernels of a stage: the walk and, if possible, instructions and a packed table."""
    able: list[Kernel] = [ForestKernel(stage, core)]
    if core.multiplies:
        able += [IfElseKernel(stage, core, name) for name in if_else_of(stage)]
    if stage.packs:
        able.append(PackedKernel(stage, core))
    return tuple(able)
