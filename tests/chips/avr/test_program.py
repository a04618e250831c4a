"""Sizes are those of binutils, and a broken file is refused with a sentence."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from avr_programs import compile_text
from avr_tools import AVR_GCC, skip_without
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused_by

from protonn_edge.chips.avr.program import Sections, float_routines, read_program
from protonn_edge.system.errors import InputError

FIRMWARE = """
#include <avr/eeprom.h>
#include <avr/pgmspace.h>
#include <stdint.h>
const uint8_t table[300] PROGMEM = {1};
volatile uint8_t initialized[20] = {1, 2, 3};
volatile uint8_t zeroed[50];
volatile uint8_t kept[30] __attribute__((section(".noinit")));
uint8_t settings[7] EEMEM = {1};
int main(void) {
    for (;;) zeroed[1] = pgm_read_byte(&table[zeroed[0]]) + initialized[2] + kept[3]
                       + eeprom_read_byte(settings);
}
"""


def test_sections_are_counted_by_the_memory_that_they_take(compile_avr):
    elf = compile_avr(FIRMWARE)
    command = ["avr-size", "-A", elf]
    table = subprocess.run(command, check=True, timeout=60, capture_output=True, text=True).stdout
    rows = [line.split() for line in table.splitlines() if line.startswith(".")]
    sizes = {row[0]: int(row[1]) for row in rows}
    sections = read_program(elf).sections
    assert sections == Sections(sizes[".text"], sizes[".data"], sizes[".bss"] + sizes[".noinit"])
    assert sections.flash_bytes == sizes[".text"] + sizes[".data"] > 300
    assert sections.sram_bytes == 20 + 50 + 30
    assert sizes[".eeprom"] == 7  # and takes neither


def test_the_code_is_what_is_flashed(compile_avr, tmp_path):
    elf, binary = compile_avr(FIRMWARE), tmp_path / "flash.bin"
    command = ["avr-objcopy", "-O", "binary", "-j", ".text", "-j", ".data", elf, binary]
    subprocess.run(command, check=True, timeout=60)
    assert read_program(elf).code == binary.read_bytes()


@pytest.mark.parametrize(
    "call", ["dtostrf(x, 5, 3, text)", "x = fmax(x, 2)", "x = x * 2", "x = exp(x)"]
)
def test_routines_for_floats_are_known_by_their_names(compile_avr, call):
    text = "#include <math.h>\n#include <stdlib.h>\nvolatile double x; char text[9];"
    elf = compile_avr(f"{text} int main(void) {{ for (;;) {{ {call}; }} }}", "-lm")
    assert float_routines(read_program(elf))


def test_functions_have_their_names_addresses_and_sizes(compile_avr):
    elf = compile_avr(FIRMWARE)
    command = ["avr-nm", "-S", elf]
    listing = subprocess.run(command, check=True, timeout=60, capture_output=True, text=True).stdout
    main = next(line.split() for line in listing.splitlines() if line.endswith(" main"))
    symbols = {symbol.name: symbol for symbol in read_program(elf).symbols}
    assert (symbols["main"].address, symbols["main"].size) == (int(main[0], 16), int(main[1], 16))
    assert "table" not in symbols  # data


def test_a_missing_file_is_refused(tmp_path):
    with refused_by("system.files"):
        read_program(tmp_path / "none.elf")


@pytest.mark.parametrize(
    "content", [b"", b"\x7fELF", b"int main(void) {}", bytes(1000), b"\x7fELF\1\1\1" + bytes(60)]
)
def test_what_is_no_elf_file_is_refused(tmp_path, content):
    path = tmp_path / "firmware.elf"
    path.write_bytes(content)
    with pytest.raises(InputError):
        read_program(path)


def test_a_program_for_this_machine_is_refused(tmp_path):
    python = tmp_path / "python"
    with Path(sys.executable).open("rb") as stream:
        python.write_bytes(stream.read(10_000_000))
    with refused_by("chips.avr.program"):
        read_program(python)


def test_a_huge_file_is_refused_unread(tmp_path):
    path = tmp_path / "firmware.elf"
    with path.open("wb") as stream:
        stream.truncate(1 << 30)
    with refused_by("system.files"):
        read_program(path)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Return the bytes of a good ELF file, and a path to write worse ones to."""
    skip_without(*AVR_GCC)
    folder = tmp_path_factory.mktemp("elf")
    elf = compile_text(FIRMWARE, folder / "firmware.elf", "-Os", "-w")
    return elf.read_bytes(), folder / "broken.elf"


@given(fraction=st.floats(0.0, 0.99))
def test_a_file_that_was_cut_short_is_refused(whole, fraction):
    content, path = whole
    path.write_bytes(content[: int(fraction * len(content))])
    with pytest.raises(InputError):
        read_program(path)


@given(data=st.data())
def test_a_damaged_file_is_read_or_refused_with_one_sentence(whole, data):
    content, path = whole
    damaged = bytearray(content)
    headers = st.one_of(st.integers(0, 200), st.integers(len(content) - 1000, len(content) - 1))
    for place in data.draw(st.lists(headers, min_size=1, max_size=8)):
        damaged[place] = data.draw(st.integers(0, 255))
    path.write_bytes(damaged)
    refusal = ""
    try:
        read_program(path)
    except InputError as error:
        refusal = str(error)
    assert "\n" not in refusal
