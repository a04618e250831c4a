"""Buttons between pins and ground: pressed for 0.2 s of emulated time."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import serial
from programs import interruptible, started

from protonn_edge.chips.emulator import EmulatedUno
from protonn_edge.system.errors import InputError

# Sends pins 2 and 3 of port D, which has pull-ups, whenever they change, and how long they were so.
WATCHES = """
int main(void) {
    uart_begin();
    PORTD = 1 << 2 | 1 << 3;
    TCCR1B = 1 << CS12 | 1 << CS10; /* 15,625 Hz */
    uint8_t seen = 0;
    for (;;) {
        const uint8_t now = PIND & (1 << 2 | 1 << 3);
        if (now != seen) {
            uart_write(now);
            uart_write16(TCNT1);
            TCNT1 = 0;
            seen = now;
        }
    }
}
"""


def test_a_pressed_button_holds_its_pin_low_for_a_while(compile_firmware, connect) -> None:
    with EmulatedUno(compile_firmware(WATCHES)) as uno:
        line = connect(uno)
        assert line.read(3)[0] == 0b1100
        for pin, level in (("PD3", 0b0100), ("PD2", 0b1000)):
            uno.press(pin)
            pressed, released = line.read(3), line.read(3)
            assert (pressed[0], released[0]) == (level, 0b1100)
            assert int.from_bytes(released[1:], "big") == pytest.approx(0.2 * 15_625, abs=5)
        assert uno.stats().faults == ()


def test_a_reset_releases_it(compile_firmware, connect) -> None:
    with EmulatedUno(compile_firmware(WATCHES)) as uno:
        line = connect(uno)
        line.read(3)
        uno.press("PD2")
        assert line.read(3)[0] == 0b1000
        uno.reset()
        assert line.read(3)[0] == 0b1100


def test_pins_that_the_chip_does_not_have_are_refused(compile_firmware) -> None:
    with EmulatedUno(compile_firmware(WATCHES)) as uno:
        for pin in ("PD8", "PZ0", "PE0", "2", "", "PD2\nquit"):
            with pytest.raises(InputError, match="no pin .*; give a port and a bit, as in"):
                uno.press(pin)
        assert uno.stats().state == "running"


def test_lines_press_buttons(compile_firmware, tmp_path: Path) -> None:
    elf = compile_firmware(WATCHES)
    command = interruptible(sys.executable, "-m", "protonn_edge", "emulate", elf, "--buttons")
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with started(*command, **pipes, env={**os.environ, "PYTHONUNBUFFERED": "1"}) as process:
        url = re.search(rb"at (socket://\S+)", process.stdout.readline())
        assert url is not None
        with serial.serial_for_url(url[1].decode(), timeout=30) as line:
            assert line.read(3)[0] == 0b1100
            process.stdin.write(b"PD9\nPD2\n")
            process.stdin.close()
            assert [line.read(3)[0], line.read(3)[0]] == [0b1000, 0b1100]
        assert b"no pin 'PD9'" in process.stderr.readline()
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert process.wait() == 0
