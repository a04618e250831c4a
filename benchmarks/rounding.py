"""Imported before NumPy by what trains, so that it trains the models that the commands train."""

from __future__ import annotations

from protonn_edge.system.rounding import fix_rounding

fix_rounding()
