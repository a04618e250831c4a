"""The studio: a page in the browser of this computer that runs the commands.

See `docs/studio.md`.
"""

from __future__ import annotations

from typing import ClassVar

from protonn_edge.system.extensions import Extension


class StudioExtension(Extension):
    """The command `studio`."""

    name: ClassVar[str] = "studio"


EXTENSION = StudioExtension()
