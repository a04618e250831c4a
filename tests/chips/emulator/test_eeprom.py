"""An EEPROM in a file: a board that loses its power keeps what it has written."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

import pytest
from chips.emulator.conftest import hex_file
from command_line import run

from protonn_edge.chips.boards import load_board
from protonn_edge.chips.emulator import EmulatedUno, EmulatorError
from protonn_edge.system.errors import InputError

# Sends the EEPROM's last byte, and replaces it with what is received.
REMEMBERS = """
#include <avr/eeprom.h>

int main(void) {
    uart_begin();
    for (;;) {
        const uint8_t next = uart_read();
        uart_write(eeprom_read_byte((uint8_t *)1023));
        eeprom_write_byte((uint8_t *)1023, next);
        uart_write('.');
    }
}
"""


def replaced(uno, connect, byte: bytes) -> bytes:
    """Write a byte, and return the one that it replaces."""
    with contextlib.closing(connect(uno)) as line:
        line.write(byte)
        before = line.read(2)
        assert before[1:] == b"."
        return before[:1]


def test_it_is_kept_when_the_power_is_cut(compile_firmware, connect, tmp_path: Path) -> None:
    elf, file = compile_firmware(REMEMBERS), tmp_path / "eeprom"
    with EmulatedUno(elf, eeprom=file) as uno:
        assert replaced(uno, connect, b"a") == b"\xff"
        assert replaced(uno, connect, b"b") == b"a"  # connecting has reset the board
        os.kill(uno._running().pid, signal.SIGKILL)
        with pytest.raises(EmulatorError):
            uno.stats()
    assert file.read_bytes() == b"\xff" * 1023 + b"b"
    with EmulatedUno(elf, eeprom=file) as uno:
        assert replaced(uno, connect, b"c") == b"b"
    with EmulatedUno(elf) as uno:
        assert replaced(uno, connect, b"d") == b"\xff"
    assert file.read_bytes()[-1:] == b"c"


def test_an_empty_file_is_an_erased_eeprom(compile_firmware, connect, tmp_path: Path) -> None:
    file = tmp_path / "eeprom"
    file.touch()
    with EmulatedUno(compile_firmware(REMEMBERS), eeprom=file) as uno:
        assert replaced(uno, connect, b"a") == b"\xff"


def test_other_files_are_refused_and_left_alone(compile_firmware, tmp_path: Path) -> None:
    elf, short, pipe = compile_firmware(REMEMBERS), tmp_path / "short", tmp_path / "pipe"
    short.write_bytes(b"my thesis")
    os.mkfifo(pipe)
    for file, reason in (
        (short, "it is not a file of 1024 bytes"),
        (pipe, "it is not a file of 1024 bytes"),
        (tmp_path, "Is a directory"),
        (tmp_path / "none" / "file", "No such file"),
    ):
        sentence = f"{file}: no EEPROM of the emulated Uno: {reason}"
        with pytest.raises(InputError, match=sentence), EmulatedUno(elf, eeprom=file):
            pass
    assert short.read_bytes() == b"my thesis"
    refused = run("emulate", elf, "--eeprom", short)
    assert refused.exit_code == 2
    assert "short: no EEPROM" in refused.stderr


def test_each_chip_has_an_eeprom_of_its_size(compile_firmware, tmp_path: Path) -> None:
    # Without the vectors, whose number is that of one chip.
    image = hex_file(compile_firmware(REMEMBERS, "-nostartfiles"))
    for name, size in (("uno", 1024), ("mega2560", 4096)):
        board, file = load_board(name), tmp_path / name
        with EmulatedUno(image, board=board, eeprom=file):
            assert file.stat().st_size == size
