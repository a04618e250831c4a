"""What joins two models, on the command line and after a search."""

BRINGS = {"command train": "commands:CascadeOptions", "search": "tuning:faster_cascade"}
"""What the rest of the package asks for; see `protonn_edge.system.extensions`."""
