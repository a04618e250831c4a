"""Boards with an Arduino core: the firmware on top of it, with a core of QEMU in its place.

See `docs/any-board.md`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from protonn_edge.system.extensions import Extension

if TYPE_CHECKING:
    from protonn_edge.codegen.export.exporting import TriedLibrary
    from protonn_edge.device.protocol import Message
    from protonn_edge.extensions.arduino.family import ArduinoCores


class ArduinoExtension(Extension):
    """Firmware for boards whose file has ``framework = "arduino"``."""

    name: ClassVar[str] = "arduino"

    def family(self) -> ArduinoCores:
        """Return the family of all such boards."""
        from protonn_edge.extensions.arduino.family import ArduinoCores

        return ArduinoCores()

    def messages(self) -> Sequence[type[Message]]:
        """Return BENCH and its reply."""
        from protonn_edge.extensions.arduino.bench import MESSAGES

        return MESSAGES

    def addition_to(self, name: str) -> object:
        """Return how a device states by what it measures."""
        if name != "measurement":
            return None
        from protonn_edge.extensions.arduino.bench import STATEMENT

        return STATEMENT

    def library_files(self, library: TriedLibrary) -> Mapping[str, str]:
        """Return the sketch, or in plain C the function, that measures a library's model."""
        from protonn_edge.extensions.arduino.sources import measure_function, measure_sketch

        if library.kind == "c":
            return measure_function(library.prefix)
        return measure_sketch(library.name, library.prefix)


EXTENSION = ArduinoExtension()
