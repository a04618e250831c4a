"""Put the script of the report's page, which npm and esbuild make, into the sdist and the wheel.

A wheel that is made of an sdist takes the sdist's. Where the script cannot be made the build goes
on without: reports then say that the Uno in the page is left out.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CustomBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Hatchling looks for this name."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the script to the files of what is built."""
        root = Path(self.root)
        sys.path.insert(0, str(root))
        from protonn_edge.errors import ProtoNNEdgeError  # noqa: PLC0415
        from protonn_edge.report.script import READY, script_file  # noqa: PLC0415

        if version == "editable" or (root / "web" / READY).is_file():
            return
        folder = "protonn_edge/web" if self.target_name == "wheel" else "web"
        try:
            build_data["force_include"][str(script_file())] = f"{folder}/{READY}"
        except (ProtoNNEdgeError, OSError) as error:
            self.app.display_warning(f"reports will be without the Uno in the page: {error}")
