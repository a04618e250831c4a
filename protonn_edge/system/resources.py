"""Find the files beside the package: templates, firmware, tests of a device, the page's scripts.

In a checkout they lie at the top level; the wheel has them inside the package, by the same names.
"""

from __future__ import annotations

from pathlib import Path

from protonn_edge.errors import InputError

_PACKAGE = Path(__file__).resolve().parents[1]


def resource(name: str) -> Path:
    """Return the path of a top-level file or folder of the project.

    - `name`: ``"templates"``, ``"firmware"``, ``"hil_tests"``, ``"web"`` or ``"platformio.ini"``.

    Returns the installed copy where there is one, else the one in the checkout.
    Raises `InputError` if neither exists: the installation is broken.
    """
    for root in (_PACKAGE, _PACKAGE.parent):
        candidate = root / name
        if candidate.exists():
            return candidate
    raise InputError(f"{name} is missing from this installation of protonn-edge; install it again")
