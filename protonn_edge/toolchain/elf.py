"""Read a linked firmware once: what it takes of the chip, its code and its initial values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import TypeVar

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from protonn_edge.boards.cores import CORES, Core, core_of_machine
from protonn_edge.errors import InputError
from protonn_edge.system.files import check_file

# avr-gcc puts all memories into one address space: flash from 0, SRAM from here, EEPROM further up.
_SRAM_BASE = 0x800000
_EEPROM_BASE = 0x810000
# A firmware of 32 kB with all of its debug information is far below; anything above is no firmware.
_LARGEST_FILE = 16 << 20


@dataclass(frozen=True)
class Sections:
    """Bytes of a firmware by where they end up.

    Attributes
    ----------
    text : int
        Code and constants: all that lies in flash and stays there.
    data : int
        Variables with an initial value: in SRAM, and a copy of the values in flash.
    bss : int
        Variables that start at zero or (``.noinit``) with whatever is there.
    """

    text: int
    data: int
    bss: int

    @property
    def flash_bytes(self) -> int:
        """Bytes of flash."""
        return self.text + self.data

    @property
    def sram_bytes(self) -> int:
        """Bytes of SRAM without the stack."""
        return self.data + self.bss


@dataclass(frozen=True)
class Symbol:
    """A name in the code.

    Attributes
    ----------
    name : str
        As the linker knows it.
    address : int
        In bytes from the start of flash.
    size : int
        In bytes; 0 where the assembler source did not say.
    """

    name: str
    address: int
    size: int


@dataclass(frozen=True)
class Constants:
    """A section of initial values or of constants.

    Attributes
    ----------
    section : str
        Its name.
    names : tuple of str
        The variables in it; a string literal has no name.
    contents : bytes
        Their values; in an object file, without addresses of other things.
    """

    section: str
    names: tuple[str, ...]
    contents: bytes


@dataclass(frozen=True, eq=False)
class LinkedProgram:
    """A linked firmware, as whatever checks it needs it.

    Attributes
    ----------
    path : Path
        Its ELF file, below whose folder the compiler's other files are.
    sections : Sections
        Bytes by where they end up.
    code : bytes
        Flash from address 0 on: the code, and after it the initial values of variables.
    symbols : tuple of Symbol
        Functions and labels in it, by address.
    data_end : int
        The first data address past the static variables; 0 if there are none.
    core : Core
        The kind of chip that it was compiled for.
    initial_values : tuple of Constants
        What the start-up code copies from flash to SRAM.
    """

    path: Path
    sections: Sections
    code: bytes
    symbols: tuple[Symbol, ...]
    data_end: int
    core: Core
    initial_values: tuple[Constants, ...]


def read_program(elf: Path) -> LinkedProgram:
    """Return what is known of a linked AVR firmware.

    Raises
    ------
    InputError
        If `elf` cannot be read or is not an ELF file for the AVR.
    """
    program = _program(elf, _contents(elf))
    if not program.code:
        raise InputError(f"{elf} has no code in it; give the ELF file that avr-gcc linked")
    return program


@lru_cache(maxsize=4)  # several checks read the same firmware
def _program(elf: Path, contents: bytes) -> LinkedProgram:
    return _parsed(
        elf,
        contents,
        lambda file: LinkedProgram(
            path=elf,
            sections=_sizes(file),
            code=_flash(file),
            symbols=_code_symbols(file),
            data_end=_data_end(file),
            core=_core(file, elf),
            initial_values=_constants(file, "", _SRAM_BASE),
        ),
    )


def read_object_constants(path: Path) -> tuple[Constants, ...]:
    """Return what an object file would have the linker put into SRAM with initial values.

    Raises
    ------
    InputError
        If the file cannot be read or is not an ELF file for the AVR.
    """
    return _read(path, lambda file: _constants(file, (".rodata", ".data"), 0))


def read_share(elf: Path, object_file: Path) -> Sections:
    """Return what a linked AVR firmware takes for the functions and variables of one object file.

    The linker has left some of them out. What of the C library they need is not counted.

    Raises
    ------
    InputError
        If a file cannot be read or is not an ELF file for the AVR.
    """
    names = set(_read(object_file, _sized_names))
    text = data = bss = 0
    for name, (address, size, holds_values) in _read(elf, _sized_names).items():
        if name not in names:
            continue
        if address < _SRAM_BASE:
            text += size
        elif holds_values:
            data += size
        else:
            bss += size
    return Sections(text, data, bss)


def _sized_names(elf: ELFFile) -> dict[str, tuple[int, int, bool]]:
    """Return address, size, and whether its section holds values, of what has a name and a size."""
    found = {}
    for table in elf.iter_sections("SHT_SYMTAB"):
        assert isinstance(table, SymbolTableSection)
        for symbol in table.iter_symbols():
            section = symbol["st_shndx"]
            if symbol.name and symbol["st_size"] and isinstance(section, int):
                holds_values = elf.get_section(section)["sh_type"] != "SHT_NOBITS"
                found[symbol.name] = (symbol["st_value"], symbol["st_size"], holds_values)
    return found


def _constants(elf: ELFFile, prefix: str | tuple[str, ...], base: int) -> tuple[Constants, ...]:
    """Return the sections of initial values whose names begin with `prefix`, from `base` on."""
    found = []
    for index, section in enumerate(elf.iter_sections()):
        loaded = section["sh_flags"] & _ALLOCATED and section["sh_type"] == "SHT_PROGBITS"
        in_memory = base <= section["sh_addr"] < _EEPROM_BASE
        if loaded and in_memory and section["sh_size"] > 0 and section.name.startswith(prefix):
            names = _names_in(elf, index)
            found.append(Constants(section.name, names, section.data()))
    return tuple(found)


def _names_in(elf: ELFFile, index: int) -> tuple[str, ...]:
    """Return the names of the variables in a section, sorted."""
    names = {
        symbol.name
        for table in elf.iter_sections("SHT_SYMTAB")
        for symbol in table.iter_symbols()  # type: ignore[attr-defined]
        if symbol["st_shndx"] == index and symbol["st_info"]["type"] == "STT_OBJECT"
    }
    return tuple(sorted(names))


_Found = TypeVar("_Found")


def _read(path: Path, read: Callable[[ELFFile], _Found]) -> _Found:
    """Return what `read` finds in an ELF file for the AVR."""
    return _parsed(path, _contents(path), read)


def _contents(path: Path) -> bytes:
    check_file(path, limit_bytes=_LARGEST_FILE)
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error


def _parsed(path: Path, contents: bytes, read: Callable[[ELFFile], _Found]) -> _Found:
    """Return what `read` finds in the contents of an ELF file for the AVR."""
    try:
        elf = ELFFile(BytesIO(contents))
        if elf["e_machine"] != "EM_AVR" or elf.elfclass != 32:
            raise InputError(f"{path} is not for the AVR; give the ELF file that avr-gcc linked")
        return read(elf)
    except InputError:
        raise
    except Exception as error:  # a broken file breaks the parser in many ways
        raise InputError(f"{path} is not a whole ELF file; build the firmware again") from error


def _sizes(elf: ELFFile) -> Sections:
    """Sort the sections by the memory that they take."""
    text = data = bss = 0
    for section in elf.iter_sections():
        address, size = section["sh_addr"], section["sh_size"]
        if not section["sh_flags"] & _ALLOCATED:
            continue  # debug information, symbols, notes
        if address < _SRAM_BASE:
            text += size
        elif address < _EEPROM_BASE:
            if section["sh_type"] == "SHT_NOBITS":
                bss += size
            else:
                data += size
    return Sections(text, data, bss)


_ALLOCATED = 2  # SHF_ALLOC


def _flash(elf: ELFFile) -> bytes:
    """Return the contents of flash from address 0 on; initial values are where they are loaded."""
    flash = bytearray()
    for segment in elf.iter_segments("PT_LOAD"):
        start, contents = segment["p_paddr"], segment.data()
        if contents and start < _SRAM_BASE:
            end = start + len(contents)
            flash.extend(b"\xff" * (end - len(flash)))
            flash[start:end] = contents
    return bytes(flash)


def _data_end(elf: ELFFile) -> int:
    ends = [
        section["sh_addr"] + section["sh_size"] - _SRAM_BASE
        for section in elf.iter_sections()
        if section["sh_flags"] & _ALLOCATED and _SRAM_BASE <= section["sh_addr"] < _EEPROM_BASE
    ]
    return min(max(ends, default=0), 0xFFFF)


_MACHINE = 0x7F  # of e_flags; above is a note of the linker's


def _core(elf: ELFFile, path: Path) -> Core:
    core = core_of_machine(elf["e_flags"] & _MACHINE)
    if core is None:
        raise InputError(
            f"{path} is for another kind of AVR than {', '.join(CORES)}; build it for one of them"
        )
    return core


def _code_symbols(elf: ELFFile) -> tuple[Symbol, ...]:
    """Return the functions and labels in flash, sorted by address."""
    symbols = []
    for table in elf.iter_sections("SHT_SYMTAB"):
        assert isinstance(table, SymbolTableSection)
        for symbol in table.iter_symbols():
            in_code = symbol["st_value"] < _SRAM_BASE and symbol["st_shndx"] not in _NO_SECTION
            if symbol.name and in_code and symbol["st_info"]["type"] in _CODE_TYPES:
                symbols.append(Symbol(symbol.name, symbol["st_value"], symbol["st_size"]))
    return tuple(sorted(symbols, key=lambda symbol: symbol.address))


_CODE_TYPES = ("STT_FUNC", "STT_NOTYPE")  # hand-written assembler seldom says which are functions
_NO_SECTION = ("SHN_ABS", "SHN_UNDEF", "SHN_COMMON")  # constants, and what is not here
