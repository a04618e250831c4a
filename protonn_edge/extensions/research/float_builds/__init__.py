"""Builds of ProtoNN in floats, for comparison with integers."""

from __future__ import annotations

NAME = "float32"
"""What W, B and Z are on the device, for `--precision`."""

BRINGS = {
    "command build": "commands:BuildPrecisionOptions",
    "command verify": "commands:PrecisionOptions",
    "device model": "model:IN_FLOATS",
}
"""What the rest of the package asks for; see `protonn_edge.system.extensions`."""
