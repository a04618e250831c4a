"""Read a firmware file into the image that the flash would hold, and what its addresses mean.

An ELF file also says where .bss ends and which function an address is in; an Intel HEX file holds
the bytes alone.
"""

from __future__ import annotations

import binascii
import bisect
import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from protonn_edge.errors import InputError

FLASH_BYTES = 0x8000
"""Flash of an ATmega328P, with the bootloader's section."""

SRAM_START = 0x100
"""The first data address behind the registers of an ATmega328P."""

# avr-gcc gives the data space and the EEPROM addresses of their own above the flash.
_DATA_SPACE = range(0x800000, 0x810000)
_FILE_LIMIT_BYTES = 16 << 20
_SHF_ALLOC = 0x2


@dataclass(frozen=True)
class Program:
    """A flash image and its map.

    Attributes
    ----------
    flash : bytes
        ``FLASH_BYTES`` bytes, 0xFF where the firmware has none.
    bss_end : int
        The first data address past the static variables; ``SRAM_START`` where it is not known.
    labels : tuple of (int, str)
        Code symbols as (address, name), sorted by address; empty where they are not known.
    """

    flash: bytes
    bss_end: int = SRAM_START
    labels: tuple[tuple[int, str], ...] = field(default=(), repr=False)

    def describe(self, address: int) -> str:
        """Return a code address for people, such as ``pnn_finish+0x12 (pc 0x01a4)``."""
        number = f"pc 0x{address:04x}"
        index = bisect.bisect_right(self.labels, address, key=lambda label: label[0]) - 1
        if index < 0:
            return number
        start, name = self.labels[index]
        return f"{name}+0x{address - start:x} ({number})"

    def with_bootloader(self, bootloader: Program, start: int) -> Program:
        """Return this program with a bootloader resident from `start` on.

        Raises
        ------
        InputError
            If this program reaches into the bootloader's section.
        """
        length = len(self.flash.rstrip(b"\xff"))
        if length > start:
            raise InputError(
                f"the firmware takes {length:,} B of flash, a bootloader leaves {start:,}; "
                "run it without the bootloader"
            )
        labels = tuple(sorted((*self.labels, *bootloader.labels)))
        return Program(self.flash[:start] + bootloader.flash[start:], self.bss_end, labels)


EMPTY = Program(b"\xff" * FLASH_BYTES)
"""A chip that nobody has programmed yet."""


def load_program(path: Path) -> Program:
    """Read an ELF or an Intel HEX file for an ATmega328P.

    Raises
    ------
    InputError
        If it cannot be read, is neither, is damaged, is for another processor, or does not fit.
    """
    try:
        size = path.stat().st_size
        if size > _FILE_LIMIT_BYTES:
            raise InputError(
                f"{path} has {size:,} B, a firmware file has at most {_FILE_LIMIT_BYTES:,}; "
                "give the ELF or HEX file of the firmware"
            )
        content = path.read_bytes()
    except OSError as error:
        raise InputError(
            f"cannot read {path}: {error.strerror}; build the firmware first"
        ) from error
    if content.startswith(b"\x7fELF"):
        return _parse_elf(content, path)
    if content.lstrip().startswith(b":"):
        return _parse_hex(content, path)
    raise InputError(f"{path} is neither an ELF nor an Intel HEX file; give one of them")


class _FlashWriter:
    """A flash image in the making that refuses what does not fit."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._flash = bytearray(b"\xff" * FLASH_BYTES)
        self._empty = True

    def write(self, address: int, content: bytes) -> None:
        end = address + len(content)
        if end > FLASH_BYTES:
            raise InputError(
                f"{self._path} reaches up to 0x{end:x}, the flash ends at 0x{FLASH_BYTES:x}; "
                "build it for an atmega328p and make it smaller"
            )
        self._flash[address:end] = content
        self._empty = self._empty and not content

    def finish(self) -> bytes:
        if self._empty:
            raise InputError(f"{self._path} holds no program; build the firmware again")
        return bytes(self._flash)


def _parse_elf(content: bytes, path: Path) -> Program:
    # pyelftools raises whatever a damaged file leads it to, from KeyError to UnicodeDecodeError.
    try:
        elf = ELFFile(io.BytesIO(content))
        if elf["e_machine"] != "EM_AVR":
            raise InputError(f"{path} is not for an AVR; build the firmware with avr-gcc")
        return Program(_elf_flash(elf, path), _elf_bss_end(elf), _elf_labels(elf))
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"{path} is a damaged ELF file; build the firmware again") from error


def _elf_flash(elf: ELFFile, path: Path) -> bytes:
    writer = _FlashWriter(path)
    for segment in elf.iter_segments("PT_LOAD"):
        # The load address: where .data lies in flash. From 0x800000 on it is EEPROM or fuses.
        if segment["p_filesz"] > 0 and segment["p_paddr"] < _DATA_SPACE.start:
            writer.write(segment["p_paddr"], segment.data())
    return writer.finish()


def _elf_bss_end(elf: ELFFile) -> int:
    ends = [
        section["sh_addr"] + section["sh_size"] - _DATA_SPACE.start
        for section in elf.iter_sections()
        if section["sh_flags"] & _SHF_ALLOC and section["sh_addr"] in _DATA_SPACE
    ]
    return min(max([SRAM_START, *ends]), 0xFFFF)


def _elf_labels(elf: ELFFile) -> tuple[tuple[int, str], ...]:
    table = elf.get_section_by_name(".symtab")
    if not isinstance(table, SymbolTableSection):
        return ()
    best: dict[int, tuple[int, str]] = {}
    for symbol in table.iter_symbols():
        kind, section, address = symbol["st_info"]["type"], symbol["st_shndx"], symbol["st_value"]
        is_code = kind in ("STT_FUNC", "STT_NOTYPE") and section not in ("SHN_ABS", "SHN_UNDEF")
        if is_code and symbol.name and address < FLASH_BYTES:
            # Of several names for one place, a strong function is what the source calls it.
            is_strong = symbol["st_info"]["bind"] != "STB_WEAK"
            rank = 2 * (kind == "STT_FUNC") + is_strong
            best[address] = max(best.get(address, (-1, "")), (rank, symbol.name))
    return tuple((address, name) for address, (_, name) in sorted(best.items()))


def _parse_hex(content: bytes, path: Path) -> Program:
    writer = _FlashWriter(path)
    base = 0
    for number, kind, offset, data in _hex_records(content, path):
        if kind == 0x00:
            writer.write(base + offset, data)
        elif kind == 0x01:
            return Program(writer.finish())
        elif kind in (0x02, 0x04) and len(data) == 2:
            base = int.from_bytes(data, "big") << (4 if kind == 0x02 else 16)
        elif kind not in (0x03, 0x05):  # those two name a start address, which an AVR has not
            raise _damaged_hex(path, number)
    raise InputError(f"{path} has no end record, so it is cut short; build the firmware again")


def _hex_records(content: bytes, path: Path) -> Iterator[tuple[int, int, int, bytes]]:
    """Yield (line number, type, offset, data) of each record; the checksums are right."""
    for number, line in enumerate(content.split(b"\n"), start=1):
        text = line.strip()
        if not text:
            continue
        try:
            record = binascii.unhexlify(text[1:])
        except binascii.Error as error:
            raise _damaged_hex(path, number) from error
        if text[:1] != b":" or len(record) < 5 or len(record) != record[0] + 5:
            raise _damaged_hex(path, number)
        if sum(record) & 0xFF:
            raise _damaged_hex(path, number)
        yield number, record[3], int.from_bytes(record[1:3], "big"), record[4:-1]


def _damaged_hex(path: Path, number: int) -> InputError:
    return InputError(
        f"{path}, line {number}, is not an Intel HEX record; build the firmware again"
    )
