"""The RP2040, the chip of a Raspberry Pi Pico: built by arm-none-eabi-gcc, emulated by rp2040py.

See `docs/boards.md`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from protonn_edge.system.extensions import Extension

if TYPE_CHECKING:
    from protonn_edge.extensions.pico.family import RP2040


class PicoExtension(Extension):
    """Firmware for boards with an RP2040."""

    name: ClassVar[str] = "pico"

    def family(self) -> RP2040:
        """Return the family of the chip."""
        from protonn_edge.extensions.pico.family import RP2040

        return RP2040()


EXTENSION = PicoExtension()
