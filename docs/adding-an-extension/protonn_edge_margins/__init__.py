"""An example of an extension: the margins of answers, in `inspect` and in a library's README."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from protonn_edge.system.extensions import AddedOptions, Extension


class Margins(Extension):
    """The option `--close` of `inspect`, and a paragraph of each README."""

    name: ClassVar[str] = "margins"

    def options(self, command: str) -> type[AddedOptions] | None:
        """Return the option of `inspect`."""
        if command != "inspect":
            return None
        from protonn_edge_margins.options import MarginOptions

        return MarginOptions

    def library_files(self, library: Any) -> Mapping[str, str]:
        """Return the paragraph on close answers."""
        text = (
            "\n## Close answers\n\n"
            f"If the two largest numbers of `{library.prefix}_scores()` are close, so are the "
            "classes.\n"
        )
        return {"README.md": text}


EXTENSION = Margins()
