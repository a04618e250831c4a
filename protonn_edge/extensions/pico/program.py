"""Read a linked program for an RP2040."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.construct import ConstructError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import Symbol, SymbolTableSection

from protonn_edge.chips.avr.program import Sections
from protonn_edge.extensions.pico.flash import BOOT2_BYTES, FLASH_START, with_crc
from protonn_edge.system.errors import InvalidValue
from protonn_edge.system.files import read_file

STACK_BYTES = 8_192
"""The memory that the firmware's linker script reserves for the stack."""

_LARGEST_FILE = 16 << 20
_LARGEST_FLASH = 16 << 20  # that the chip can address
_REMEDY = "build the firmware again"
_DAMAGED = (ELFError, ConstructError, ValueError, KeyError, OSError)


@dataclass(frozen=True, eq=False)
class RP2040Program:
    """A linked program, which is copied from flash to SRAM when it starts."""

    path: Path  # its ELF file
    sections: Sections  # code and constants are counted as initial values of SRAM
    code: bytes  # the flash from its start on, with the CRC-32 of the second stage of the start
    symbols: Mapping[str, int]  # addresses, without the bit that marks Thumb code


def read_program(path: Path) -> RP2040Program:
    """Return the program in an ELF file; `InputError` if it has none for an RP2040."""
    try:
        elf = _elf(path)
        code, unset = _memory(elf)
        symbols = {each.name: each["st_value"] & ~1 for each in _symbols(elf)}
    except _DAMAGED as error:
        raise InvalidValue(path, "no program for an RP2040", _REMEDY) from error
    sections = Sections(BOOT2_BYTES, len(code) - BOOT2_BYTES, unset)
    return RP2040Program(path, sections, with_crc(code), symbols)


def read_share(path: Path, object_file: Path) -> Sections:
    """Return the bytes of a linked program that come from one object file."""
    own = {each.name for each in _symbols(_elf(object_file)) if each["st_size"]}
    sizes = {True: 0, False: 0}  # by whether they have initial values
    elf = _elf(path)
    for each in _symbols(elf):
        if each.name in own and each["st_size"]:
            section = elf.get_section(each["st_shndx"])
            sizes[section["sh_type"] != "SHT_NOBITS"] += each["st_size"]
    return Sections(0, sizes[True], sizes[False])


def _elf(path: Path) -> ELFFile:
    contents = read_file(path, limit_bytes=_LARGEST_FILE, remedy=_REMEDY)
    return ELFFile(BytesIO(contents))


def _symbols(elf: ELFFile) -> Iterable[Symbol]:
    table = elf.get_section_by_name(".symtab")
    return table.iter_symbols() if isinstance(table, SymbolTableSection) else ()


def _memory(elf: ELFFile) -> tuple[bytes, int]:
    """Return the flash from its start on, and the size of variables without initial values."""
    if elf["e_machine"] != "EM_ARM":
        raise ValueError("another processor")
    flash, unset = bytearray(), 0
    for segment in elf.iter_segments("PT_LOAD"):
        place, size = segment["p_paddr"] - FLASH_START, segment["p_filesz"]
        unset += segment["p_memsz"] - size
        if size:
            if not 0 <= place <= _LARGEST_FLASH - size:
                raise ValueError("outside of the flash")
            flash.extend(b"\xff" * (place - len(flash)))
            flash[place : place + size] = segment.data()
    if len(flash) <= BOOT2_BYTES:
        raise ValueError("nothing to start")
    return bytes(flash), unset
