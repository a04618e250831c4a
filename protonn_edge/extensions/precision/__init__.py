"""Builds of ProtoNN in floats, for comparison with integers."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any, ClassVar

from protonn_edge.system.extensions import DeviceForm, Extension

NAME = "float32"
"""What W, B and Z are on the device, for `--precision`."""


class PrecisionExtension(Extension):
    """Float builds."""

    name: ClassVar[str] = "precision"
    options: ClassVar[Mapping[str, str]] = {
        "build": "commands:BuildPrecisionOptions",
        "verify": "commands:PrecisionOptions",
    }

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
