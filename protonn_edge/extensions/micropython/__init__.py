"""Models in MicroPython: one file of Python that computes what the generated C computes.

See `docs/micropython.md`.
"""

from __future__ import annotations

from typing import ClassVar

from protonn_edge.system.extensions import AddedOptions, Extension


class MicroPythonExtension(Extension):
    """The option of `export` for a module."""

    name: ClassVar[str] = "micropython"

    def options(self, command: str) -> type[AddedOptions] | None:
        """Return the option of `export`."""
        if command != "export":
            return None
        from protonn_edge.extensions.micropython.commands import MicroPythonOptions

        return MicroPythonOptions


EXTENSION = MicroPythonExtension()
