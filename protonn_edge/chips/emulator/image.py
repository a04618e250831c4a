"""A flash image, and the names of what is in it."""

from __future__ import annotations

from dataclasses import dataclass, field

from protonn_edge.chips.avr.names import Names, Symbol
from protonn_edge.system.errors import InvalidValue


@dataclass(frozen=True)
class FlashImage:
    """A flash image and its map."""

    flash: bytes  # all of the chip's, 0xFF where the firmware has none
    data_end: int = 0  # the first data address past the static variables; 0 if unknown
    # functions and labels; empty if unknown
    symbols: tuple[Symbol, ...] = field(default=(), repr=False)

    def describe(self, address: int) -> str:
        """Return a code address for people, such as ``pnn_finish+0x12 (pc 0x01a4)``."""
        number = f"pc 0x{address:04x}"
        symbol = Names(self.symbols).at(address)
        return f"{symbol.name}+0x{address - symbol.address:x} ({number})" if symbol else number

    def with_bootloader(self, bootloader: FlashImage, start: int) -> FlashImage:
        """Return this image with a bootloader from `start` on; `InputError` if it reaches there."""
        length = len(self.flash.rstrip(b"\xff"))
        if length > start:
            raise InvalidValue(
                "firmware",
                f"{length:,} B of flash, but a bootloader leaves {start:,} B",
                "run the firmware without the bootloader",
            )
        symbols = (*self.symbols, *bootloader.symbols)
        return FlashImage(self.flash[:start] + bootloader.flash[start:], self.data_end, symbols)
