"""ProtoNN as in its paper: the optimizer that trains Z, B and W in turn, and other losses.

See `docs/research.md`.
"""

BRINGS = {
    "options": "parameters:GROUPS",
    "protonn.searched": "parameters:SEARCHED",
    "protonn.parameters": "parameters:PaperParameters",
    "protonn.refusals": "train.refusals:REFUSALS",
}
"""What the rest of the package asks for; see `protonn_edge.system.extensions`."""
