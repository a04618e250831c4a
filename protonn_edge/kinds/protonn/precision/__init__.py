"""Builds of ProtoNN in floats, for comparison with integers; the registry finds them."""

from __future__ import annotations

from protonn_edge.system.lazy import later

NAME = "float32"
"""What W, B and Z are on the device, for `--precision`."""

_MODEL = "protonn_edge.kinds.protonn.precision.model"
chain_of = later(_MODEL, "in_floats")
why_impossible = later(_MODEL, "why_impossible")
