"""Counted kernels on chips of 32 bits: the same table."""

from __future__ import annotations

from protonn_edge.codegen.kernels.words import Words
from protonn_edge.features.kernels.integers import IntegerKernels
from protonn_edge.features.kernels.kernels import KERNEL_BYTES


def words(stage: IntegerKernels) -> Words:
    """Return the size of the table of kernels."""
    return Words(other_bytes=KERNEL_BYTES * len(stage.bank))
