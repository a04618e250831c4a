"""Read a linked firmware once: its memory, its code and its initial values."""

from __future__ import annotations

import re
import struct
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from io import BytesIO
from pathlib import Path
from typing import NamedTuple, TypeVar

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import Section, SymbolTableSection

from protonn_edge.chips.avr.flash import (
    EEPROM_BASE,
    SRAM_BASE,
    flash_of,
    is_allocated,
    is_in_sram,
)
from protonn_edge.chips.avr.instructions import Decoded, decode
from protonn_edge.chips.avr.names import MARK, Names, Symbol, Variable, declared_in
from protonn_edge.chips.cores import CORES, Core
from protonn_edge.system.errors import CheckFailed, InputError, InvalidValue
from protonn_edge.system.files import read_file

# A firmware of 32 kB with all of its debug information is far below; anything above is no firmware.
_LARGEST_FILE = 16 << 20
_LONGEST_NAME = 200


@dataclass(frozen=True)
class Sections:
    """Bytes of a firmware by where they end up."""

    text: int  # code and constants: all that lies in flash and stays there
    data: int  # variables with an initial value: in SRAM, and a copy of the values in flash
    bss: int  # variables that start at zero or (``.noinit``) with whatever is there

    @classmethod
    def of(cls, parts: Iterable[tuple[int, int, bool]]) -> Sections:
        """Return the sums of parts, by their address, size, and whether they have values."""
        text = data = bss = 0
        for address, size, holds_values in parts:
            text += size * (address < SRAM_BASE)
            data += size * (SRAM_BASE <= address < EEPROM_BASE and holds_values)
            bss += size * (SRAM_BASE <= address < EEPROM_BASE and not holds_values)
        return cls(text, data, bss)

    @property
    def flash_bytes(self) -> int:
        """Bytes of flash."""
        return self.text + self.data

    @property
    def sram_bytes(self) -> int:
        """Bytes of SRAM without the stack."""
        return self.data + self.bss


@dataclass(frozen=True)
class Constants:
    """A section of initial values or of constants."""

    section: str  # its name
    names: tuple[str, ...]  # the variables in it; string literals are unnamed
    contents: bytes  # their values; in an object file, without addresses of other things
    address: int = 0  # in the data space, in a linked program


@dataclass(frozen=True, eq=False)
class LinkedProgram:
    """A linked firmware, in the form that checks need."""

    path: Path  # its ELF file; the compiler's other files are below the same folder
    sections: Sections  # bytes by where they end up
    code: bytes  # flash from address 0 on: the code, and after it the initial values of variables
    symbols: tuple[Symbol, ...]  # functions and labels in it, by address
    # labels that state facts about places (`facts`), by address; no names of code
    marks: tuple[Symbol, ...]
    data_end: int  # the first data address past the static variables; 0 if there are none
    core: Core  # the kind of chip that it was compiled for
    initial_values: tuple[Constants, ...]  # copied from flash to SRAM at the start
    compilers: tuple[str, ...]  # the compilers named in its object files
    variables: tuple[Variable, ...] = ()  # those with a value at the start
    kept: tuple[Variable, ...] = ()  # those that keep what is there
    chip: str = ""  # that of `-mmcu`, if the C library's start-up code names it

    @cached_property
    def names(self) -> Names:
        """The symbols, to name addresses."""
        return Names(self.symbols)

    def attributed(self, source: str, text: str) -> LinkedProgram:
        """Return the program with the variables of a source file of this text, behind -flto, too.

        Link-time optimization does not record the files of variables, and appends to some names
        (``begun.lto_priv.0``). If it leaves two variables of a name, neither is the file's.
        """
        every = self.variables, self.kept
        if any(each.source == source for some in every for each in some):
            return self
        names = Counter(each.base for some in every for each in some)
        own = {name for name in declared_in(text) if names[name] == 1}
        variables, kept = (
            tuple(
                replace(each, name=each.base, source=source) if each.base in own else each
                for each in some
            )
            for some in every
        )
        return replace(self, variables=variables, kept=kept)

    def instruction(self, address: int) -> Decoded | None:
        """Return the instruction at a byte address, or None."""
        return decode(self.code, address, self.core.wraps_at)

    def reached(self, address: int) -> Decoded:
        """Return the instruction at an address that code reaches."""
        instruction = self.instruction(address)
        if instruction is None:
            raise CheckFailed(
                f"the code reaches 0x{address:x}, where there is no instruction; build the program "
                "again"
            )
        return instruction


def read_program(elf: Path) -> LinkedProgram:
    """Return a linked AVR firmware; `InputError` if `elf` is none."""
    program = _program(elf, read_file(elf, limit_bytes=_LARGEST_FILE))
    if not program.code:
        raise InvalidValue(elf, "no code", _LINKED)
    return program


def read_share(elf: Path, object_file: Path) -> Sections:
    """Return the bytes of a linked AVR firmware that come from one object file.

    Functions and variables that the linker removed, and the C library's, are not counted.
    """
    linked, own = (_parsed(path, _sized_names) for path in (elf, object_file))
    return Sections.of(linked[name] for name in own.keys() & linked.keys())


def float_routines(program: LinkedProgram) -> list[str]:
    """Return the names of the routines for floats that are linked into a program, sorted."""
    return sorted(filter(_FLOAT_ROUTINE.fullmatch, {symbol.name for symbol in program.symbols}))


# libgcc's, named as in GCC's internals manual ("Routines for floating point emulation": sf is a
# float of 4 bytes, df one of 8), and avr-libc's __fp_..., which its <math.h> uses but for fmax and
# fmin, and what prints floats.
_FLOAT_ROUTINE = re.compile(
    r"__(?:\w*[sd]f(?:[23]|[qhsdt]i)|float\w*[sd]f|fp_\w+|ftoa_engine)|fm(?:ax|in)[fl]?"
)


def constants_in_sram(program: LinkedProgram, all_of: str) -> list[tuple[str, Path]]:
    """Return constants that take SRAM though flash could hold them, with their object files.

    These are constants without PROGMEM, string literals, and, in object files with names that begin
    with `all_of` below the program's folder, anything with an initial value.
    """
    if not program.initial_values:
        return []
    return [
        (name, path)
        for path in sorted(program.path.parent.rglob("*.o"))
        for constants in _parsed(path, _constants_of_object)
        if constants.section.startswith(".rodata") or path.name.startswith(all_of)
        for name in _kept(constants, program.initial_values)
    ]


def _kept(constants: Constants, in_sram: tuple[Constants, ...]) -> Iterator[str]:
    """Yield the names of those in SRAM, without CSWTCH: tables of switches cannot be PROGMEM."""
    linked = {name for section in in_sram for name in section.names}
    names = [name for name in constants.names if not name.startswith("CSWTCH")]
    yield from (name for name in names if name in linked)
    if not constants.names:
        # Literals: the linker keeps or removes each, and merges equal ones.
        pieces = constants.contents.split(b"\0")
        if any(all(p + b"\0" in section.contents for p in pieces[:-1]) for section in in_sram):
            yield repr(pieces[0].decode("ascii", errors="replace"))


# --- the file ------------------------------------------------------------------------------------

_Found = TypeVar("_Found")


def _parsed(path: Path, read: Callable[[ELFFile], _Found], contents: bytes | None = None) -> _Found:
    """Return the result of `read` for an ELF file for the AVR, given its contents if known."""
    if contents is None:
        contents = read_file(path, limit_bytes=_LARGEST_FILE)
    try:
        elf = ELFFile(BytesIO(contents))
        if elf["e_machine"] != "EM_AVR" or elf.elfclass != 32:
            raise InvalidValue(path, "not for the AVR", _LINKED)
        return read(elf)
    except InputError:
        raise
    except Exception as error:  # a broken file breaks the parser in many ways
        raise InvalidValue(
            path, "not a complete ELF file", f"{_LINKED}, or build it again"
        ) from error


@lru_cache(maxsize=4)  # several checks read the same firmware
def _program(path: Path, contents: bytes) -> LinkedProgram:
    def read(elf: ELFFile) -> LinkedProgram:
        ends = [
            each["sh_addr"] + each["sh_size"]
            for each in elf.iter_sections()
            if is_allocated(each) and is_in_sram(each)
        ]
        symbols, sizes = _code_symbols(elf), _sizes(elf)
        return LinkedProgram(
            path=path,
            sections=sizes,
            code=flash_of(elf, path, sizes.flash_bytes, sizes.sram_bytes),
            symbols=tuple(each for each in symbols if not MARK.fullmatch(each.name)),
            marks=tuple(each for each in symbols if MARK.fullmatch(each.name)),
            data_end=min(max(ends, default=SRAM_BASE) - SRAM_BASE, 0xFFFF),
            core=_core(elf, path),
            initial_values=_constants(elf, is_in_sram),
            compilers=_compilers(elf),
            variables=tuple(_variables(elf, kept=False)),
            kept=tuple(_variables(elf, kept=True)),
            chip=_chip(elf),
        )

    return _parsed(path, read, contents)


class _NamedPlace(NamedTuple):
    """A line of a symbol table."""

    name: str
    value: int
    size: int
    kind: int  # one of STT_*
    section: int  # its index, or one of SHN_*
    is_global: bool = False


def _symbols(elf: ELFFile) -> Iterator[_NamedPlace]:
    """Yield all symbols; the parser itself takes ten times as long for them."""
    for table in elf.iter_sections("SHT_SYMTAB"):
        assert isinstance(table, SymbolTableSection)
        names = table.stringtable.data()
        for start, value, size, info, _, section in struct.iter_unpack("<3I2BH", table.data()):
            name = names[start : names.index(0, start)].decode(errors="replace")
            yield _NamedPlace(name, value, size, info & 15, section, info >> 4 != _STB_LOCAL)


def _sizes(elf: ELFFile) -> Sections:
    """Sort the sections by the memory that they take."""
    return Sections.of(
        (each["sh_addr"], each["sh_size"], each["sh_type"] != "SHT_NOBITS")
        for each in filter(is_allocated, elf.iter_sections())
    )


def _core(elf: ELFFile, path: Path) -> Core:
    machine = elf["e_flags"] & _MACHINE
    core = next((each for each in CORES.values() if each.machine == machine), None)
    if core is None:
        raise InvalidValue(
            path,
            "compiled for an unsupported AVR",
            f"compile the program for one of {', '.join(CORES)}",
        )
    return core


_LINKED = "give the ELF file that avr-gcc linked, or name the board of another chip with --board"
_MACHINE = 0x7F  # of e_flags; above is a note of the linker's


def _code_symbols(elf: ELFFile) -> tuple[Symbol, ...]:
    """Return the functions and labels in flash, sorted by address."""
    symbols = [
        Symbol(_printable(each.name), each.value, each.size)
        for each in _symbols(elf)
        if each.name
        and not each.name.startswith(_LOCAL)
        and each.value < SRAM_BASE
        and 0 < each.section < _NO_SECTION
        and each.kind in _CODE_TYPES
    ]
    return tuple(sorted(symbols, key=lambda symbol: symbol.address))


# Labels of the assembler's own: binutils from 2.43 on keep them in the table, older ones with -L.
_LOCAL = (".L", "L0\x01")
_STT_NOTYPE, _STT_OBJECT, _STT_FUNC = range(3)
_STT_FILE, _STB_LOCAL = 4, 0
_CODE_TYPES = (_STT_FUNC, _STT_NOTYPE)  # hand-written assembler seldom marks its functions
_NO_SECTION = 0xFF00  # SHN_LORESERVE, as of constants; undefined symbols have 0


def _variables(elf: ELFFile, *, kept: bool) -> Iterator[Variable]:
    """Yield the variables in SRAM that are initialized, or those that nothing initializes."""
    held = {
        index
        for index, each in enumerate(elf.iter_sections())
        if is_allocated(each) and is_in_sram(each) and each.name.startswith(".noinit") == kept
    }
    source = ""
    for each in _symbols(elf):  # a file's own symbols are behind its name, all others at the end
        if each.kind == _STT_FILE:
            source = _printable(each.name)
        elif each.is_global:
            source = ""
        if each.kind == _STT_OBJECT and each.size and each.section in held:
            yield Variable(_printable(each.name), each.value - SRAM_BASE, each.size, source)


def _sized_names(elf: ELFFile) -> dict[str, tuple[int, int, bool]]:
    """Return address, size and whether its section holds values, of symbols with a size."""
    return {
        each.name: (each.value, each.size, elf.get_section(each.section)["sh_type"] != "SHT_NOBITS")
        for each in _symbols(elf)
        if each.name and each.size and 0 < each.section < _NO_SECTION
    }


def _constants_of_object(elf: ELFFile) -> tuple[Constants, ...]:
    """Return the variables that the linker would put into SRAM with initial values."""
    return _constants(elf, lambda section: section.name.startswith((".rodata", ".data")))


def _constants(elf: ELFFile, wanted: Callable[[Section], bool]) -> tuple[Constants, ...]:
    """Return the wanted sections that hold values."""
    return tuple(
        Constants(each.name, _names_in(elf, index), each.data(), each["sh_addr"] & 0xFFFF)
        for index, each in enumerate(elf.iter_sections())
        if is_allocated(each)
        and each["sh_type"] != "SHT_NOBITS"
        and each["sh_size"] > 0
        and wanted(each)
    )


def _compilers(elf: ELFFile) -> tuple[str, ...]:
    section = elf.get_section_by_name(".comment")
    texts = section.data().decode("ascii", "replace").split("\0") if section else []
    return tuple(sorted(map(_printable, filter(None, texts))))


def _chip(elf: ELFFile) -> str:
    section = elf.get_section_by_name(".note.gnu.avr.deviceinfo")
    name = section and re.search(rb"\0(at[a-z0-9]+)\0", section.data())
    return name[1].decode() if name else ""


def _printable(text: str) -> str:
    """Return a name that messages can hold."""
    return "".join(each if each.isprintable() else "?" for each in text[:_LONGEST_NAME])


def _names_in(elf: ELFFile, index: int) -> tuple[str, ...]:
    """Return the names of the variables in a section, sorted."""
    names = {
        each.name for each in _symbols(elf) if each.section == index and each.kind == _STT_OBJECT
    }
    return tuple(sorted(names))
