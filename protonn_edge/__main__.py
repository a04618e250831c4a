"""The program ``protonn-edge``; ``python -m protonn_edge``, where its script is not on the path."""

from __future__ import annotations

import sys

try:
    from protonn_edge.cli import main
except KeyboardInterrupt:  # commands handle it themselves, but not before they are imported
    sys.exit(130)

if __name__ == "__main__":
    main()
