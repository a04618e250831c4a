"""Resets, clients that come and go, and the life of the emulator's process."""

from __future__ import annotations

import contextlib
import dataclasses
import random
import signal
import socket
import struct
import subprocess
import sys
from pathlib import Path

import pytest
import serial
from checkout import CHECKOUT
from chips.emulator.conftest import DEADLINE_S, EXTERNAL_RESET, GREETS, eventually, hex_file
from refusals import refused_by

from protonn_edge.chips.boards import load_board
from protonn_edge.chips.emulator import EmulatedUno, EmulatorError

CHATTERS = """
int main(void) {
    uart_begin();
    for (;;) {
        uart_write('x');
    }
}
"""


def test_connecting_resets_and_disconnecting_does_not(compile_firmware, connect, link_kind):
    with EmulatedUno(compile_firmware(GREETS), link=link_kind) as uno:
        for _ in range(3):
            link = connect(uno)
            link.write(b"ping")
            assert link.read(5) == EXTERNAL_RESET + b"ping"
            link.close()
            before = uno.stats().cycles
            assert eventually(lambda before=before: uno.stats().cycles > before)


def test_a_line_that_is_closed_can_be_opened_again_at_once(compile_firmware, connect, link_kind):
    with EmulatedUno(compile_firmware(GREETS), link=link_kind) as uno:
        for _ in range(200):
            link = connect(uno)
            assert link.read(1) == EXTERNAL_RESET
            link.close()


def test_a_second_client_is_turned_away(compile_firmware, connect):
    with EmulatedUno(compile_firmware(GREETS)) as uno:
        first = connect(uno)
        assert first.read(1) == EXTERNAL_RESET
        with socket.create_connection(("127.0.0.1", uno.port), timeout=DEADLINE_S) as second:
            assert second.recv(1) == b""
        first.write(b"still here")
        assert first.read(10) == b"still here"


def test_bytes_of_the_last_client_do_not_reach_the_next(compile_firmware, connect, link_kind):
    with EmulatedUno(compile_firmware(GREETS, "-DUBRR=207"), link=link_kind) as uno:
        last = connect(uno)
        last.write(b"x" * 4000)
        last.close()
        uno.stats()  # once it answers, it has seen that the last one left
        link = connect(uno)
        link.write(b"ping")
        assert link.read(5) == EXTERNAL_RESET + b"ping"


def test_a_client_that_vanishes_in_mid_run_harms_nobody(compile_firmware, connect):
    with EmulatedUno(compile_firmware(CHATTERS)) as uno:
        client = socket.create_connection(("127.0.0.1", uno.port), timeout=DEADLINE_S)
        assert client.recv(1) == b"x"
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.close()  # sends a reset instead of an orderly end
        assert connect(uno).read(1000) == b"x" * 1000
        assert uno.stats().state == "running"


def test_a_client_that_does_not_read_is_dropped_in_the_end(compile_firmware):
    with (
        EmulatedUno(compile_firmware(CHATTERS, "-DUBRR=0")) as uno,
        socket.socket() as deaf,
    ):
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.connect(("127.0.0.1", uno.port))

        def is_served():
            with socket.create_connection(("127.0.0.1", uno.port), timeout=DEADLINE_S) as client:
                return client.recv(1) == b"x"

        assert eventually(is_served)


def test_the_button_resets_under_a_connected_client(compile_firmware, connect, link_kind):
    with EmulatedUno(compile_firmware(GREETS), link=link_kind) as uno:
        link = connect(uno)
        assert link.read(1) == EXTERNAL_RESET
        uno.reset()
        assert link.read(1) == EXTERNAL_RESET


def test_sleep_without_the_enable_bit_is_no_sleep(compile_firmware, connect):
    firmware = """
        int main(void) {
            uart_begin();
            cli();
            __asm__ volatile("sleep");
            uart_write('!');
            idle_for_ever();
        }
    """
    with EmulatedUno(compile_firmware(firmware)) as uno:
        assert connect(uno).read(1) == b"!"
        assert uno.stats().faults == ()


def test_commands_are_answered_while_the_firmware_computes(compile_firmware):
    with EmulatedUno(compile_firmware("int main(void) { for (;;) { PORTB++; } }")) as uno:
        first, second = uno.stats(), uno.stats()
    assert first.state == "running"
    assert second.cycles >= first.cycles


def test_nothing_is_said_about_a_board_that_is_off(compile_firmware):
    uno = EmulatedUno(compile_firmware(GREETS))
    with pytest.raises(EmulatorError, match="'with' statement"):
        uno.stats()
    for _ in range(2):  # one object can be switched on again
        with uno:
            assert uno.stats().faults == ()


def test_a_dead_emulator_is_reported_in_a_sentence(compile_firmware):
    with EmulatedUno(compile_firmware(GREETS)) as uno:
        assert uno._process is not None
        uno._process.kill()
        with pytest.raises(EmulatorError, match="stopped unexpectedly: exit code -9"):
            uno.stats()


def test_the_emulator_ends_with_the_process_that_started_it(compile_firmware):
    program = """
import os, sys
from pathlib import Path
from protonn_edge.chips.emulator import EmulatedUno
with EmulatedUno(Path(sys.argv[1])) as uno:
    print(uno._process.pid, flush=True)
    os.kill(os.getpid(), 9)
"""
    result = subprocess.run(
        [sys.executable, "-c", program, compile_firmware(GREETS)],
        cwd=CHECKOUT,
        stdout=subprocess.PIPE,
        timeout=60,
        check=False,
    )
    assert result.returncode == -signal.SIGKILL

    def has_ended():
        with contextlib.suppress(OSError):
            state = Path(f"/proc/{int(result.stdout)}/stat").read_text().rsplit(")", 1)[1].split()
            return state[0] == "Z"
        return True

    assert eventually(has_ended)


@pytest.mark.parametrize("without", [{"mcu": "atmega9999"}, {"serial": "usart1"}])
def test_a_chip_that_simavr_does_not_know_is_refused(compile_firmware, without):
    other = dataclasses.replace(load_board("uno"), name="other", **without)
    image = hex_file(compile_firmware("int main(void) { for (;;) {} }"))
    with refused_by("chips.emulator.board"), EmulatedUno(image, board=other):
        pass


def test_an_empty_board_without_a_bootloader_is_refused():
    with refused_by("chips.emulator.uno"):
        EmulatedUno(None)


def test_pyserial_opens_the_url(compile_firmware, link_kind):
    with EmulatedUno(compile_firmware(GREETS), link=link_kind) as uno:
        assert (uno.port == 0) == (link_kind == "pty")
        assert link_kind == "pty" or uno.url == f"socket://127.0.0.1:{uno.port}"
        text = random.Random(1).randbytes(4096)
        for _ in range(3):
            with serial.serial_for_url(uno.url, baudrate=115_200, timeout=DEADLINE_S) as link:
                link.write(b"ping")
                # Opening may discard the greeting: pyserial flushes what came in before.
                assert link.read_until(b"ping").removeprefix(EXTERNAL_RESET) == b"ping"
                link.write(text)
                assert link.read(len(text)) == text
            stats = uno.stats()  # once it answers, it has seen the close
        assert stats.overruns == 0
