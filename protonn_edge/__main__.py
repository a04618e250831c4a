"""The program ``protonn-edge``; ``python -m protonn_edge``, where its script is not on the path."""

from __future__ import annotations

from protonn_edge.system.starting import heed

heed(by_exception=False)  # until a command runs

from protonn_edge.cli import main  # noqa: E402

if __name__ == "__main__":
    main()
