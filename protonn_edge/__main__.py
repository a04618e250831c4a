"""``python -m protonn_edge``: the command line, where its script is not on the path."""

from __future__ import annotations

from protonn_edge.cli import main

main(prog_name="python -m protonn_edge")
