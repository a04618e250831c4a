"""Cascades: two models joined into one, on the command line and after a search.

The kind of classifier is in `kinds`.
"""

BRINGS = {"command train": "commands:CascadeOptions", "search": "tuning:faster_cascade"}
"""What the rest of the package asks for; see `protonn_edge.system.extensions`."""
