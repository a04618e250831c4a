"""A tree of gated sums on chips of 32 bits: the same tables as on others."""

from __future__ import annotations

from protonn_edge.codegen.kernels.words import Words
from protonn_edge.extensions.research.kinds.bonsai.integers import IntegerBonsaiTree


def words(stage: IntegerBonsaiTree) -> Words:
    """Return the bytes of the tree and of the tanh."""
    return Words(other_bytes=len(stage.flash.content) + stage.table.size)
