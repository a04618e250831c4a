"""`protonn-edge emulate` keeps a board running, says how to use it, and tells of its faults."""

from __future__ import annotations

import contextlib
import json
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import serial
from avr_programs import compile_text
from avr_tools import needs_emulated_avr
from command_line import run
from extension_parts import needs
from programs import interruptible, started

pytestmark = needs_emulated_avr

# An echo that stumbles over an x.
ECHO = """
#include <avr/io.h>
__attribute__((noinline)) void stumble(void) { __asm__ volatile(".word 0x0001"); }
int main(void) {
    UBRR0L = 16;
    UCSR0A = 1 << U2X0;
    UCSR0B = 1 << RXEN0 | 1 << TXEN0;
    for (;;) {
        while (!(UCSR0A & 1 << RXC0)) {}
        uint8_t byte = UDR0;
        if (byte == 'x') stumble();
        while (!(UCSR0A & 1 << UDRE0)) {}
        UDR0 = byte;
    }
}
"""


@pytest.fixture(scope="module")
def firmware(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("echo")
    return compile_text(ECHO, folder / "echo.elf", "-Os")


class Emulate:
    """The command, running."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        self.process = process
        self.record = json.loads(process.stdout.readline())

    def say_until(self, words: str) -> str:
        """Return the line on standard error that has `words`."""
        assert self.process.stderr is not None
        return next(line for line in self.process.stderr if words in line)

    def stop(self, number: signal.Signals) -> int:
        self.process.send_signal(number)
        return self.process.wait()


@pytest.fixture
def emulate() -> Iterator[Callable[..., Emulate]]:
    """Return a function that starts the command."""
    command = interruptible(sys.executable, "-m", "protonn_edge", "emulate", "--json")
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with contextlib.ExitStack() as stack:

        def run_on(*arguments: object) -> Emulate:
            return Emulate(stack.enter_context(started(*command, *arguments, **pipes)))

        yield run_on


def echoes(url: str) -> bool:
    with serial.serial_for_url(url, baudrate=115200, timeout=20) as line:
        line.write(b"ping")
        return bool(line.read(4) == b"ping")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_runs_until_it_is_stopped(
    emulate: Callable[..., Emulate], firmware: Path, number: signal.Signals
) -> None:
    board = emulate(firmware, "--wire-speed")
    assert echoes(board.record["url"])
    assert board.stop(number) == 0
    with pytest.raises(serial.SerialException):
        serial.serial_for_url(board.record["url"])


def test_a_chosen_port_is_the_one_said(emulate: Callable[..., Emulate], firmware: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    board = emulate(firmware, "--port", port, "--bootloader")
    assert board.record["url"] == f"socket://127.0.0.1:{port}"
    assert board.record["upload_port"] == f"net:127.0.0.1:{port}"
    assert f"protonn-edge upload --port socket://127.0.0.1:{port}" in board.say_until("upload")

    taken = run("emulate", firmware, "--port", port)
    assert taken.exit_code == 2
    assert f"error: the emulated Uno: port {port} of 127.0.0.1" in taken.stderr


def test_a_link_leads_to_the_device_as_long_as_the_board_runs(
    emulate: Callable[..., Emulate], firmware: Path, tmp_path: Path
) -> None:
    device = tmp_path / "uno"
    device.symlink_to("/dev/pts/of-a-board-before")
    board = emulate(firmware, "--port", device)
    assert board.record["url"] == str(device)
    assert str(device.resolve()).startswith("/dev/pts/")
    assert echoes(str(device))
    assert board.stop(signal.SIGTERM) == 0
    assert list(tmp_path.iterdir()) == []


def test_a_fault_is_said_when_it_happens(emulate: Callable[..., Emulate], firmware: Path) -> None:
    board = emulate(firmware)
    with serial.serial_for_url(board.record["url"], timeout=20) as line:
        line.write(b"x")
        said = board.say_until("fault")
    assert said.startswith("fault: stumble+0x0 (pc 0x")
    assert "illegal opcode 0x0001" in said
    assert echoes(board.record["url"])  # opening the line has reset it


def test_a_file_is_not_replaced_by_a_link(firmware: Path, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("kept")
    refused = run("emulate", firmware, "--port", precious)
    assert refused.exit_code == 2
    assert "is not a symbolic link" in refused.stderr
    assert precious.read_text() == "kept"


# Converts A0 whenever a byte comes.
METER = """
#include <avr/io.h>
int main(void) {
    UBRR0L = 16;
    UCSR0A = 1 << U2X0;
    UCSR0B = 1 << RXEN0 | 1 << TXEN0;
    ADCSRA = 1 << ADEN | 7;
    ADMUX = 1 << REFS0 | 1 << ADLAR;
    for (;;) {
        while (!(UCSR0A & 1 << RXC0)) {}
        (void)UDR0;
        ADCSRA |= 1 << ADSC;
        while (ADCSRA & 1 << ADSC) {}
        UDR0 = ADCH;
    }
}
"""


@needs("sensing")
def test_a_sensor_plays_its_file(emulate: Callable[..., Emulate], tmp_path: Path) -> None:
    light = tmp_path / "light.csv"
    light.write_text("# rate: 0.01 Hz\nlight\n800\n")
    board = emulate(compile_text(METER, tmp_path / "meter.elf", "-Os"), "--sensor", f"a0={light}")
    with serial.serial_for_url(board.record["url"], timeout=20) as line:
        line.write(b"?")
        assert line.read(1) == bytes([800 >> 2])


def test_the_reader_of_a_program_in_no_project_is_given_its_model(firmware: Path) -> None:
    command = interruptible(sys.executable, "-m", "protonn_edge", "emulate", firmware)
    with started(*command, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        line = next(each for each in program.stdout if "protonn-edge hil" in each)
        assert "hil DATA --model MODEL" in line
