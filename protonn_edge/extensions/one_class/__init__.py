"""ProtoNN of one class: it learns normal points alone, and rejects all others.

See `docs/rejection.md`.
"""

BRINGS = {
    "command train": "commands:NormalOptions",
    "options": "parameters:GROUPS",
    "protonn.parameters": "parameters:OneClassParameters",
    "protonn.refusals": "train.refusals:REFUSALS",
}
"""What the rest of the package asks for; see `protonn_edge.system.extensions`."""
