"""Forests of decision trees: integers, tables in flash, and the walk through them."""

from __future__ import annotations

from protonn_edge.model.entries import Kind

WALK, IF_ELSE, LEAF_LISTS, PACKED = "walk", "if-else", "leaf-lists", "packed"

KINDS = (Kind("forest", "Forest", 3),)
STAGES = {"forest": ""}
