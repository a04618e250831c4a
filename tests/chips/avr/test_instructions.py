"""The decoder reads machine code as binutils does."""

from __future__ import annotations

import re
import subprocess

import pytest
from avr_tools import needs
from chips.assembly.decoding import SYNONYMS

from protonn_edge.chips.avr.instructions import decode
from protonn_edge.chips.avr.program import read_program

LINE = re.compile(r" *([0-9a-f]+):\t((?:[0-9a-f]{2} )+) *\t(\S+)\s*([^;]*)(?:; 0x([0-9a-f]+))?")


@pytest.fixture
def library(compile_avr):
    """Return an ELF with all of the C library in it: every instruction that a compiler makes."""
    return compile_avr(
        "int main(void) { return 0; }",
        "-Wl,--defsym=__TEXT_REGION_LENGTH__=128K,--whole-archive,-lc,--no-whole-archive",
    )


def disassembly(elf):
    command = ["avr-objdump", "-d", "-j", ".text", elf]
    text = subprocess.run(command, check=True, timeout=60, capture_output=True, text=True).stdout
    return [line.groups() for line in map(LINE.match, text.splitlines()) if line]


@needs("avr-objdump")
def test_every_instruction_of_the_c_library_is_read_as_binutils_reads_it(library):
    code = read_program(library).code
    names = set()
    for address, encoding, name, operands, target in disassembly(library):
        found = decode(code, int(address, 16))
        if name == ".word":
            assert found is None
            continue
        assert found is not None
        names.add(name)
        displaced = {"ldd": "ld", "std": "st"}.get(found.name)  # with a distance of 0
        assert SYNONYMS.get(name, name) in {found.name, displaced}
        assert found.size == len(encoding.split())
        registers = [int(number) for number in re.findall(r"\br(\d+)", operands)]
        assert registers[:1] in ([], [found.operands.get("d")], [found.operands.get("r")])
        assert registers[1:] in ([], [found.operands.get("r")])
        if "k" in found.operands and target:
            data = 2**16 if found.name in {"lds", "sts"} else 2**32  # where binutils adds 0x800000
            assert found.operands["k"] % data == int(target, 16) % data
        if "K" in found.operands:
            assert found.operands["K"] == int(operands.split("0x")[1], 16)
    assert len(names) > 70


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (b"", "nothing"),
        (b"\x08", "half a word"),
        (b"\x0e\x94", "half a call"),
        (b"\xff\xff", "erased flash"),
    ],
)
def test_what_is_no_instruction_is_none(code, reason):
    assert decode(code, 0) is None, reason


@pytest.mark.parametrize("address", [-2, 1, 4])
def test_an_address_outside_or_between_words_is_none(address):
    assert decode(b"\x00\x00\x00\x00", address) is None


def test_a_relative_jump_counts_words_from_the_next_instruction():
    assert decode(b"\xff\xcf", 0).operands["k"] == 0  # rjmp .-2
    assert decode(b"\x00\x00\x00\xd0", 2).operands["k"] == 4  # rcall .+0
    assert decode(b"\x00\x00\xf1\xf7", 2).operands["k"] == 0  # brne .-4
