"""The contents of flash in an ELF file, which its sections and its segments have alike."""

from __future__ import annotations

from pathlib import Path

from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import Section

from protonn_edge.system.errors import InvalidValue

# avr-gcc puts all memories into one address space: flash from 0, SRAM from here, EEPROM further up.
SRAM_BASE = 0x800000
EEPROM_BASE = 0x810000
"""The first addresses of SRAM and of EEPROM."""

_LARGEST_FLASH = 256 << 10  # of an ATmega2560


def is_allocated(section: Section) -> bool:
    """Return whether a section takes memory: not debug information, symbols, notes."""
    return bool(section["sh_flags"] & SH_FLAGS.SHF_ALLOC)


def is_in_sram(section: Section) -> bool:
    """Return whether a section has variables."""
    return bool(SRAM_BASE <= section["sh_addr"] < EEPROM_BASE)


def flash_of(elf: ELFFile, path: Path, flash_bytes: int, sram_bytes: int) -> bytes:
    """Return the contents of flash from address 0 on, with initial values at their load addresses.

    Raises `ValueError` if they exceed the flash of all chips, or a section has another size, and
    `InputError` if sections, of which avr-objcopy makes HEX files, have other bytes.
    """
    flash, loaded, in_sram = bytearray(), 0, 0
    for segment in elf.iter_segments("PT_LOAD"):
        start, size = segment["p_paddr"], segment["p_filesz"]
        end = start + size
        if SRAM_BASE <= segment["p_vaddr"] < EEPROM_BASE:
            in_sram += segment["p_memsz"]
        if size and start < SRAM_BASE:
            contents, loaded = segment.data(), loaded + size
            if end > _LARGEST_FLASH or len(contents) != size:
                raise ValueError(f"{end} bytes of flash")
            flash.extend(b"\xff" * (end - len(flash)))
            flash[start:end] = contents
    if (flash_bytes, sram_bytes) != (loaded, in_sram):
        raise ValueError("sections are missing")
    if not _in_sections(elf, flash, loaded):
        raise InvalidValue(
            path, "an ELF file whose sections and segments differ", "link the program again"
        )
    return bytes(flash)


def _in_sections(elf: ELFFile, flash: bytearray, loaded: int) -> bool:
    """Return whether sections have all bytes that segments load into flash, and no others."""
    named = [each.name for each in elf.iter_sections() if each.name in (".text", ".data")]
    held = bytearray(len(flash))
    for section in filter(is_allocated, elf.iter_sections()):
        size, start = section["sh_size"], section["sh_addr"]
        if section["sh_type"] == "SHT_NOBITS" or not size or start >= EEPROM_BASE:
            continue
        moved = [
            segment["p_paddr"] - segment["p_vaddr"]
            for segment in elf.iter_segments("PT_LOAD")
            if 0 <= start - segment["p_vaddr"] <= segment["p_filesz"] - size
        ]
        if not moved or (moved[0] and not is_in_sram(section)):
            return False
        place = slice(start + moved[0], start + moved[0] + size)
        if flash[place] != section.data():
            return False
        held[place] = b"\1" * size
    return held.count(1) == loaded and len(named) == len({*named})
