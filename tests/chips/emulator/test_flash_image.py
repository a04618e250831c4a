"""Firmware files, good and bad."""

from __future__ import annotations

import random
import subprocess

import pytest
from avr_programs import compile_text
from avr_tools import needs
from chips.emulator.conftest import hex_file
from elftools.elf.elffile import ELFFile
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused_by

from protonn_edge.chips.emulator.programs import FLASH_BYTES, empty_image, load_image

FIRMWARE = """
uint8_t initialized = 42, zeroed[10], kept __attribute__((section(".noinit")));
uint8_t stored __attribute__((section(".eeprom"))) = 7;

void pnn_finish(void) {
    GPIOR0 = initialized;
}

int main(void) {
    pnn_finish();
    zeroed[0] = kept = 1;
    (void)stored;
}
"""


def record(kind, address, data=b""):
    body = bytes([len(data)]) + address.to_bytes(2, "big") + bytes([kind]) + data
    return b":" + (body + bytes([-sum(body) & 0xFF])).hex().upper().encode() + b"\n"


END = record(0x01, 0)


@pytest.fixture
def write(tmp_path):
    def write_file(content):
        path = tmp_path / "firmware"
        path.write_bytes(content)
        return path

    return write_file


def test_elf_and_hex_of_one_firmware_give_one_image(compile_firmware):
    elf = compile_firmware(FIRMWARE)
    image = hex_file(elf, "-R", ".eeprom")
    assert load_image(elf).flash == load_image(image).flash
    assert load_image(image).symbols == ()


def test_firmware_of_another_chip_is_refused(compile_firmware):
    """An Uno's firmware ran on the emulated Mega, whose ports are elsewhere, without a word."""
    elf = compile_firmware(FIRMWARE)
    with refused_by("chips.emulator.programs"):
        load_image(elf, 0x40000, "atmega2560")
    assert load_image(elf, mcu="atmega328").flash == load_image(elf).flash


CHIPS = ("atmega328p", "atmega1284p", "atmega32u4", "atmega2560")


@pytest.mark.parametrize("compiled_for", CHIPS)
def test_a_hex_file_of_another_chip_is_refused(tmp_path, compiled_for):
    """It ran with the other chip's interrupts and ports, without a word."""
    text = "#include <avr/interrupt.h>\nISR(WDT_vect) {}\nint main(void) { for (;;) {} }\n"
    elf = compile_text(text, tmp_path / "program.elf", "-Os", mcu=compiled_for)
    program = load_image(hex_file(elf), 0x40000, compiled_for).flash
    assert program.startswith(load_image(elf, 0x40000, compiled_for).flash[:64])
    for board in CHIPS:
        if board != compiled_for:
            with refused_by("chips.emulator.programs"):
                load_image(hex_file(elf), 0x40000, board)


def test_the_map_of_an_elf_file(compile_firmware):
    elf = compile_firmware(FIRMWARE)
    program = load_image(elf)
    with elf.open("rb") as stream:
        symbols = ELFFile(stream).get_section_by_name(".symtab")
        finish = symbols.get_symbol_by_name("pnn_finish")[0]["st_value"]
        assert program.data_end == symbols.get_symbol_by_name("_end")[0]["st_value"] & 0xFFFF
    assert program.describe(finish + 2) == f"pnn_finish+0x2 (pc 0x{finish + 2:04x})"
    assert program.describe(0) == "__vectors+0x0 (pc 0x0000)"
    assert empty_image().describe(0x1234) == "pc 0x1234"


@settings(max_examples=50)
@given(
    start=st.integers(0, FLASH_BYTES - 1),
    count=st.integers(1, 1000),
    linear=st.booleans(),
    seed=st.integers(0, 9),
)
def test_a_hex_file_may_have_gaps_and_bases(tmp_path_factory, start, count, linear, seed):
    data = random.Random(seed).randbytes(count)[: FLASH_BYTES - start]
    lines = [record(0x03, 0, b"\0\0\0\0"), record(0x05, 0, b"\0\0\0\0")]
    for offset in range(0, len(data), 16):
        address, chunk = start + offset, data[offset : offset + 16]
        base = 0 if linear else (address & 0xF000) >> 4
        kind = 0x04 if linear else 0x02
        lines.append(record(kind, 0, base.to_bytes(2, "big")))
        lines.append(record(0x00, address - (base << 4), chunk))
    random.Random(seed).shuffle(pairs := [lines[i : i + 2] for i in range(0, len(lines), 2)])
    path = tmp_path_factory.mktemp("hex") / "firmware.hex"
    path.write_bytes(b"".join(b"".join(pair) for pair in pairs) + END)
    flash = load_image(path).flash
    assert flash[start : start + len(data)] == data
    assert set(flash[:start] + flash[start + len(data) :]) <= {0xFF}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"hello",
        b"\x7fELF",
        b"\x7fELF" + bytes(1000),
        record(0, 0, b"\x00\x00"),
        END,
        b":0000000\n",
        b":00000001\n",
        b":zz\n",
        record(0, 0, b"\x00\x00") + b":0200000000\n" + END,
        record(0, 0, b"\x00\x00") + b"0200000000\n" + END,
        record(0, 0, b"\x00\x00").replace(b"FE", b"FD") + END,
        record(6, 0, b"\x00\x00") + END,
        record(4, 0, b"\x00") + END,
        record(0, 32767, b"\x00\x00") + END,
        record(4, 0, b"\xff\xff") + record(0, 0, b"\x00\x00") + END,
    ],
)
def test_a_bad_file_is_refused_in_a_sentence(write, content):
    with refused_by("chips.avr.program", "chips.emulator.programs", "system.files"):
        load_image(write(content))


@needs("gcc")
def test_a_program_for_a_pc_is_refused(tmp_path):
    source, executable = tmp_path / "main.c", tmp_path / "main"
    source.write_text("int main(void) { return 0; }")
    subprocess.run(["gcc", "-o", executable, source], check=True, timeout=60)
    with refused_by("chips.avr.program"):
        load_image(executable)


def test_files_that_cannot_be_firmware_are_not_read(tmp_path):
    with refused_by("system.files"):
        load_image(tmp_path / "nothing")
    with refused_by("system.files"):
        load_image(tmp_path)
    huge = tmp_path / "huge"
    with huge.open("wb") as stream:
        stream.truncate(1 << 30)
    with refused_by("system.files"):
        load_image(huge)
