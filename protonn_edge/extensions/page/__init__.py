"""Scripts of pages: figures that answer to a reader, and an emulated Uno that runs the firmware.

A report without them has the same figures. They are also the second emulator, under Node.js. See
`docs/harness.md`.
"""

from __future__ import annotations

from typing import ClassVar

from protonn_edge.system.extensions import Extension


class PageExtension(Extension):
    """The folder `scripts`."""

    name: ClassVar[str] = "page"


EXTENSION = PageExtension()
