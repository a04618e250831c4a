"""The serial line as a device: who opens it resets the board; nobody gets what was for another."""

from __future__ import annotations

import contextlib
import os

import pytest
from chips.emulator.conftest import EXTERNAL_RESET, GREETS, eventually

from protonn_edge.chips.emulator import EmulatedUno


@pytest.fixture
def uno(compile_firmware):
    with EmulatedUno(compile_firmware(GREETS), link="pty") as board:
        yield board


def test_every_byte_passes_even_for_a_client_that_sets_nothing(uno, connect):
    link = connect(uno)
    assert link.read(1) == EXTERNAL_RESET
    alphabet = bytes(range(256))  # with what a terminal makes signals and line ends of
    link.write(alphabet)
    assert link.read(256) == alphabet


def test_a_second_client_does_not_reset_the_board(uno, connect):
    first = connect(uno)
    assert first.read(1) == EXTERNAL_RESET
    second = connect(uno)
    first.write(b"one")
    assert first.read(3) == b"one"
    first.close()
    second.write(b"two")
    assert second.read(3) == b"two"


@pytest.mark.parametrize("at_once", [2, 5])
def test_clients_that_come_or_go_in_one_moment_are_all_seen(uno, connect, at_once):
    for _ in range(10):
        several = [connect(uno) for _ in range(at_once)]
        assert several[0].read(1) == EXTERNAL_RESET
        for link in several[1:]:
            link.close()
        several[0].write(b"still here")
        assert several[0].read(10) == b"still here"
        several = [several[0], *(connect(uno) for _ in range(at_once))]
        for link in several:
            link.close()
        uno.stats()  # once it answers, it has seen that nobody is left


def test_who_writes_and_leaves_at_once_is_heard(uno):
    for count in range(1, 6):
        before = uno.stats().marked_spans
        descriptor = os.open(uno.url, os.O_WRONLY | os.O_NOCTTY)
        os.write(descriptor, b"12345"[:count])
        os.close(descriptor)
        assert eventually(lambda n=before + count: uno.stats().marked_spans == n)


def test_what_nobody_reads_is_lost_but_not_the_client(compile_firmware, connect):
    chatters = "int main(void) { uart_begin(); for (;;) uart_write('x'); }"
    with EmulatedUno(compile_firmware(chatters, "-DUBRR=0"), link="pty") as uno:
        link = connect(uno)
        assert link.read(1) == b"x"
        cycles_for_1_mb = 160 * (1 << 20)
        assert eventually(lambda: uno.stats().cycles > cycles_for_1_mb)
        assert link.read(200_000) == b"x" * 200_000


def test_the_device_is_gone_with_the_board(compile_firmware):
    with EmulatedUno(compile_firmware(GREETS), link="pty") as uno:
        descriptor = os.open(uno.url, os.O_RDWR | os.O_NOCTTY)
    with contextlib.closing(os.fdopen(descriptor, "rb", buffering=0)) as device:
        assert eventually(lambda: not is_open(device))


def is_open(device):
    try:
        return bool(device.read(1))
    except OSError:
        return False
