"""Print the variables for running ``pio`` from a shell, to use as ``eval "$(python -m ...)"``.

In PowerShell: ``python -m ... | Out-String | Invoke-Expression``.
"""

from __future__ import annotations

import sys

from protonn_edge.chips.toolchain.platformio import pio_variables
from protonn_edge.system.errors import ProtoNNEdgeError
from protonn_edge.system.shell import setting_line


def main() -> int:
    """Print a line per variable; return the exit code."""
    try:
        variables = pio_variables()
    except ProtoNNEdgeError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    for name, value in variables.items():
        print(setting_line(name, value))
    return 0


if __name__ == "__main__":
    sys.exit(main())
