"""Read a program that was linked for a core of QEMU."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile

from protonn_edge.chips.avr.program import Sections
from protonn_edge.system.errors import InvalidValue
from protonn_edge.system.files import read_file

_LARGEST_FILE = 16 << 20
_REMEDY = "build the firmware again"


@dataclass(frozen=True)
class LinkedCore:
    """A program with a small Arduino core."""

    path: Path
    sections: Sections
    code: bytes


def read_core(path: Path) -> LinkedCore:
    """Return the program in an ELF file; `InputError` if it has none for a core of QEMU."""
    contents = read_file(path, limit_bytes=_LARGEST_FILE, remedy=_REMEDY)
    sizes = {"text": 0, "data": 0, "bss": 0}
    try:
        for section in ELFFile(BytesIO(contents)).iter_sections():
            flags = section["sh_flags"]
            kind = "data" if flags & SH_FLAGS.SHF_WRITE else "text"
            kind = "bss" if section["sh_type"] == "SHT_NOBITS" else kind
            sizes[kind] += section["sh_size"] if flags & SH_FLAGS.SHF_ALLOC else 0
    except (ELFError, ValueError, KeyError, OSError) as error:
        raise InvalidValue(path, "no program for a core of QEMU", _REMEDY) from error
    return LinkedCore(path, Sections(**sizes), contents)
