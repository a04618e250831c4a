"""Models in MicroPython: one file of Python that computes what the generated C computes.

See `docs/micropython.md`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from protonn_edge.system.extensions import Extension


class MicroPythonExtension(Extension):
    """The option of `export` for a module."""

    name: ClassVar[str] = "micropython"
    options: ClassVar[Mapping[str, str]] = {"export": "commands:MicroPythonOptions"}


EXTENSION = MicroPythonExtension()
