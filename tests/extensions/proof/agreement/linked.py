"""Generated C in both of its forms, linked so that each of its functions can be run alone.

Both forms get the same layout of variables and tables, so that an address means the same in both.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from avr_tools import AVR_GCC, skip_without
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from protonn_edge.chips.avr.program import read_program

_SRAM = 0x800000
_COMPILER = (
    *("avr-gcc", "-mmcu=atmega328p", "-std=gnu99", "-w"),
    # each function for itself, as it is written
    *("-fno-inline", "-fno-ipa-sra", "-fno-ipa-cp", "-fno-ipa-icf", "-fno-jump-tables"),
    *("-fno-toplevel-reorder", "-Wl,--defsym=__TEXT_REGION_LENGTH__=0x10000"),
)
_MAIN = "int main(void)\n{\n    return 0;\n}\n"
_NO_MULTIPLIER = "#include <avr/io.h>\n#undef __AVR_HAVE_MUL__\n"
# At -Og paths through a loop meet in front of its next pass.
_FORMS = (("assembly", ("-O2",)), ("portable", ("-Og", "-include", "no_multiplier.h")))
_CONVERTED = re.compile(r"^static void (\w+)_convert\(void\)", re.M)
# Sums of 24 bits, which portable C keeps in 32.
_SUMS = re.compile(r"#ifdef PNN_ASSEMBLY(\n__extension__ typedef __int24 )")


@dataclass(frozen=True)
class Object:
    """A variable, or a table in flash."""

    name: str
    address: int
    size: int


class Linked:
    """A linked program."""

    def __init__(self, elf: Path) -> None:
        self.program = read_program(elf)
        with elf.open("rb") as file:
            read = ELFFile(file)
            table = read.get_section_by_name(".symtab")
            assert isinstance(table, SymbolTableSection)
            symbols = [(each.name, each["st_info"]["type"], each["st_value"], each["st_size"])
                       for each in table.iter_symbols()]  # fmt: skip
        named = [Object(name, value, size) for name, kind, value, size in symbols
                 if kind == "STT_OBJECT" and size]  # fmt: skip
        self.functions = {name: value for name, kind, value, _ in symbols if kind == "STT_FUNC"}
        self.sizes = {name: size for name, kind, _, size in symbols if kind == "STT_FUNC"}
        self.variables = {each.name: Object(each.name, each.address - _SRAM, each.size)
                          for each in named if each.address >= _SRAM}  # fmt: skip
        self.tables = {each.name: each for each in named if each.address < _SRAM}


@dataclass(frozen=True)
class Forms:
    """A program in both forms."""

    text: str
    assembly: Linked
    portable: Linked


def linked_forms(text: str, folder: Path) -> Forms:
    """Compile and link generated C, whose header is in the folder, in both forms."""
    skip_without(*AVR_GCC)
    own = _SUMS.sub(r"#if 1\1", text)
    (folder / "forms.c").write_text(own + _products(own) + _MAIN)
    (folder / "no_multiplier.h").write_text(_NO_MULTIPLIER)
    linked = []
    for name, flags in _FORMS:
        command = [*_COMPILER, *flags, "forms.c", "-o", f"{name}.elf"]
        subprocess.run(command, check=True, cwd=folder, timeout=60)
        linked.append(Linked(folder / f"{name}.elf"))
    return Forms(own, *linked)


def _products(text: str) -> str:
    """Return functions for products whose sums become bytes, within one form's function only.

    Each is called as its stage, with ``_bytes`` behind.
    """
    found = []
    for stage in dict.fromkeys(_CONVERTED.findall(text)):
        adding = dict.fromkeys(re.findall(rf"^static void ({stage}_add_\d+)\(", text, re.M))
        found += [f"void {stage}_bytes(const pnn_input_t *x)\n{{\n"]
        found += [f"    {each}(x);\n" for each in adding]
        found += [f"#ifndef PNN_ASSEMBLY\n    {stage}_convert();\n#endif\n}}\n\n"]
    return "".join(found)
