"""Names of plans, which are names of kernels of one stage of a model."""

from __future__ import annotations

from protonn_edge.stages.bonsai_tree import kernels as bonsai_tree
from protonn_edge.stages.forest import kernels as forest
from protonn_edge.stages.matvec import cycles as matvec

PLANS = (*matvec.KERNELS, *forest.KERNELS, *bonsai_tree.KERNELS)
