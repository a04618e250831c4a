"""Put the scripts of pages, which npm and esbuild make, into the sdist and the wheel.

A wheel that is made of an sdist takes the sdist's. Where they cannot be made the build goes on
without: reports then say that the Uno is left out, and there is no emulator for Node.js.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CustomBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Hatchling looks for this name."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the scripts to the files of what is built."""
        root = Path(self.root)
        sys.path.insert(0, str(root))
        from protonn_edge.chips.toolchain.javascript import SCRIPTS, script_file
        from protonn_edge.system.errors import ProtoNNEdgeError

        if version == "editable":
            return
        folder = "protonn_edge/extensions/page/scripts"
        try:
            for name in SCRIPTS:
                if not (root / folder / name).is_file():
                    build_data["force_include"][str(script_file(name))] = f"{folder}/{name}"
        except (ProtoNNEdgeError, OSError) as error:
            self.app.display_warning(f"the Uno in the page and under Node.js is left out: {error}")
