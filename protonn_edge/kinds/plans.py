"""Names of plans, which are names of kernels of one stage of a model."""

from __future__ import annotations

from protonn_edge.kernels.matvec import kernels as matvec
from protonn_edge.kinds.bonsai import kernels as bonsai_tree
from protonn_edge.kinds.forest import kernels as forest

PLANS = (*matvec.KERNELS, *forest.KERNELS, *bonsai_tree.KERNELS)
