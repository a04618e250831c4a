"""Builds of ProtoNN in floats, for comparison with integers."""

from __future__ import annotations

from types import ModuleType
from typing import Any, ClassVar

from protonn_edge.system.extensions import AddedOptions, DeviceForm, Extension

NAME = "float32"
"""What W, B and Z are on the device, for `--precision`."""


class PrecisionExtension(Extension):
    """Float builds."""

    name: ClassVar[str] = "precision"

    def options(self, command: str) -> type[AddedOptions] | None:
        """Return the option that chooses the number format."""
        if command == "build":
            from protonn_edge.extensions.precision.commands import BuildPrecisionOptions

            return BuildPrecisionOptions
        if command == "verify":
            from protonn_edge.extensions.precision.commands import PrecisionOptions

            return PrecisionOptions
        return None

    def device_form(self) -> DeviceForm:
        """Return the form in floats."""
        from protonn_edge.extensions.precision.model import IN_FLOATS

        return IN_FLOATS

    def program_of(self, model: Any) -> ModuleType | None:
        """Return the program of a model in floats."""
        if model.own_stages[-1].kind != NAME:
            return None
        from protonn_edge.extensions.precision import program

        return program


EXTENSION = PrecisionExtension()
