"""What the emulated chip's flash holds, and what addresses in it mean to people.

An ELF file also says where .bss ends and which function an address is in; an Intel HEX file holds
the bytes alone.
"""

from __future__ import annotations

import binascii
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from protonn_edge.avr.program import Names, Symbol, read_program
from protonn_edge.errors import InputError
from protonn_edge.system.files import read_file

FLASH_BYTES = 0x8000  # flash of an ATmega328P, with the bootloader's section
_FILE_LIMIT_BYTES = 16 << 20


@dataclass(frozen=True)
class FlashImage:
    """A flash image and its map."""

    flash: bytes  # all of the chip's, 0xFF where the firmware has none
    data_end: int = 0  # the first data address past the static variables; 0 where it is not known
    # functions and labels; empty where they are not known
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
            raise InputError(
                f"the firmware takes {length:,} B of flash, but a bootloader leaves {start:,}; "
                "run it without the bootloader"
            )
        symbols = (*self.symbols, *bootloader.symbols)
        return FlashImage(self.flash[:start] + bootloader.flash[start:], self.data_end, symbols)


def empty_image(flash_bytes: int = FLASH_BYTES) -> FlashImage:
    """Return the image of a chip that nobody has programmed yet."""
    return FlashImage(b"\xff" * flash_bytes)


def load_image(path: Path, flash_bytes: int = FLASH_BYTES, mcu: str = "atmega328p") -> FlashImage:
    """Read an ELF or an Intel HEX file for a chip, by default an ATmega328P.

    Raises `InputError` if it is neither, damaged, for another processor, or too large.
    """
    content = read_file(path, limit_bytes=_FILE_LIMIT_BYTES, remedy="build the firmware first")
    if content.startswith(b"\x7fELF"):
        program = read_program(path)
        flash = _placed([(0, program.code)], path, flash_bytes, mcu)
        return FlashImage(flash, program.data_end, program.symbols)
    if content.lstrip().startswith(b":"):
        return FlashImage(_placed(hex_chunks(content, path), path, flash_bytes, mcu))
    raise InputError(f"{path} is neither an ELF nor an Intel HEX file; give one of them")


def _placed(chunks: Iterable[tuple[int, bytes]], path: Path, flash_bytes: int, mcu: str) -> bytes:
    """Return the flash with each chunk at its address."""
    flash = bytearray(b"\xff" * flash_bytes)
    is_empty = True
    for address, chunk in chunks:
        end = address + len(chunk)
        if end > flash_bytes:
            raise InputError(
                f"{path} reaches up to 0x{end:x}, the flash ends at 0x{flash_bytes:x}; "
                f"build it for an {mcu} and make it smaller"
            )
        flash[address:end] = chunk
        is_empty = is_empty and not chunk
    if is_empty:
        raise InputError(f"{path} holds no program; build the firmware again")
    return bytes(flash)


def hex_chunks(content: bytes, path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield address and bytes of each data record; `InputError` if one is damaged or missing."""
    base = 0
    for number, kind, offset, data in _records(content, path):
        if kind == 0x00:
            yield base + offset, data
        elif kind == 0x01:
            return
        elif kind in (0x02, 0x04) and len(data) == 2:
            base = int.from_bytes(data, "big") << (4 if kind == 0x02 else 16)
        elif kind not in (0x03, 0x05):  # those two name a start address, which an AVR has not
            raise _damaged(path, number)
    raise InputError(f"{path} has no end record, so it is truncated; build the firmware again")


def _records(content: bytes, path: Path) -> Iterator[tuple[int, int, int, bytes]]:
    """Yield (line number, type, offset, data) of each record; the checksums are right."""
    for number, line in enumerate(content.split(b"\n"), start=1):
        text = line.strip()
        if not text:
            continue
        try:
            record = binascii.unhexlify(text[1:])
        except binascii.Error:
            record = b""
        whole = text[:1] == b":" and len(record) >= 5 and len(record) == record[0] + 5
        if not whole or sum(record) & 0xFF:
            raise _damaged(path, number)
        yield number, record[3], int.from_bytes(record[1:3], "big"), record[4:-1]


def _damaged(path: Path, number: int) -> InputError:
    return InputError(
        f"{path}, line {number}, is not an Intel HEX record; build the firmware again"
    )
