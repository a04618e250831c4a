"""Build Optiboot, the Uno's bootloader, from the source in Debian's arduino-core-avr.

The .hex file in that package is 532 bytes long, which does not fit the 512 bytes of an ATmega328P's
smallest boot section; the same source rebuilt with today's avr-gcc and relaxed jumps does.
"""

from __future__ import annotations

from pathlib import Path

from protonn_edge.emulator.compiler import run_compiler
from protonn_edge.emulator.flash_image import FlashImage, load_image
from protonn_edge.errors import InputError
from protonn_edge.system.cache import built_once

BOOTLOADER_START = 0x7E00
"""Where the boot section begins, in bytes; the usable flash ends here."""

_SOURCE = Path("/usr/share/arduino/hardware/arduino/avr/bootloaders/optiboot/optiboot.c")
_PACKAGES = "the Debian packages arduino-core-avr, gcc-avr and avr-libc"
_FLAGS = (
    "-Os -fno-inline-small-functions -fno-split-wide-types -fno-tree-scev-cprop "
    "-fno-move-loop-invariants -std=gnu99 -w -mmcu=atmega328p -DF_CPU=16000000L "
    "-DLED_START_FLASHES=3 -DBAUD_RATE=115200 "
    f"-Wl,--section-start=.text=0x{BOOTLOADER_START:x} -Wl,--section-start=.version=0x7ffe "
    "-Wl,--relax -nostartfiles -nostdlib"
).split()


def load_optiboot() -> FlashImage:
    """Return Optiboot for an ATmega328P at 16 MHz and 115200 baud, built if need be.

    Raises
    ------
    InputError
        If its source or avr-gcc is missing; the sentence names the packages.
    """
    try:
        source = _SOURCE.read_bytes()
    except OSError as error:
        raise InputError(f"the source of Optiboot is missing; install {_PACKAGES}") from error

    def build(product: Path) -> None:
        run_compiler(["avr-gcc", *_FLAGS, "-o", str(product), str(_SOURCE)], _PACKAGES)

    return load_image(built_once("optiboot", [source, " ".join(_FLAGS).encode()], build))
