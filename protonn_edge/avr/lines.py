"""The line of the source that an instruction was compiled from."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile


def source_line(elf: Path, address: int) -> str:
    """Return ``file:line`` for an address in flash, or nothing if the file does not know."""
    try:
        with elf.open("rb") as file:
            return _line(ELFFile(file), address)
    except (OSError, ELFError, LookupError, ValueError):
        return ""  # it only makes a message clearer


def _line(elf: ELFFile, address: int) -> str:
    if not elf.has_dwarf_info():
        return ""
    dwarf = elf.get_dwarf_info()
    for unit in dwarf.iter_CUs():
        program = dwarf.line_program_for_CU(unit)
        if program is None:
            continue
        states = [entry.state for entry in program.get_entries() if entry.state]
        for state, after in pairwise(states):
            if state.address <= address < after.address and not state.end_sequence:
                name = program["file_entry"][state.file - 1].name.decode(errors="replace")
                return f"{name}:{state.line}"
    return ""
