"""What joins two models on the command line."""

BRINGS = {"command train": "commands:CascadeOptions"}
"""What the rest of the package asks for; see `protonn_edge.extensions`."""
