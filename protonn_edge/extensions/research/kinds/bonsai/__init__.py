"""A tree with nodes that add gated sums to the scores: integers, tables in flash, the walk."""

from __future__ import annotations

from protonn_edge.model.entries import Kind

DENSE, SPARSE = "dense", "sparse"

KINDS = (
    Kind("bonsai", "Bonsai", 4),
    Kind("local-deep-kernel", "LocalDeepKernel", 5),
)
TITLES = {"bonsai": "Bonsai", "local-deep-kernel": "local deep kernel"}
STAGES = {"bonsai_tree": ""}
