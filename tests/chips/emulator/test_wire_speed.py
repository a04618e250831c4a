"""At wire speed emulated time is the wall clock's: bytes come no faster than on a wire."""

from __future__ import annotations

import socket
import time

import pytest

from protonn_edge.chips.emulator import EmulatedUno
from protonn_edge.system.errors import InputError

ECHO = """
int main(void) {
    uart_begin();
    for (;;) {
        uart_write(uart_read());
    }
}
"""


def test_emulated_time_does_not_run_ahead_of_the_wall_clock(compile_firmware, connect, link_kind):
    text = bytes(range(256)) * 16
    began = time.monotonic()
    with EmulatedUno(compile_firmware(ECHO), link=link_kind, wire_speed=True) as uno:
        link = connect(uno)
        link.write(text)
        assert link.read(len(text)) == text
        stats = uno.stats()
        wall_s = time.monotonic() - began
    one_slice_s = 0.001
    assert len(text) * 10 * 8 * 17 < stats.cycles <= 16e6 * (wall_s + one_slice_s)
    assert stats.overruns == 0


def test_commands_and_single_bytes_do_not_hurry_it(compile_firmware, connect):
    began = time.monotonic()
    with EmulatedUno(compile_firmware(ECHO), wire_speed=True) as uno:
        link = connect(uno)
        for _ in range(20):
            link.write(b"x")
            uno.stats()
            assert link.read(1) == b"x"
        assert uno.stats().cycles <= 16e6 * (time.monotonic() - began + 0.001)


def test_a_port_may_be_chosen(compile_firmware):
    firmware = compile_firmware(ECHO)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    for _ in range(2):  # and again, although the first connection to it lingers
        with EmulatedUno(firmware, port=port) as uno:
            assert uno.port == port
            socket.create_connection(("127.0.0.1", port), timeout=20).close()
    with (
        EmulatedUno(firmware, port=port),
        pytest.raises(InputError, match=rf"port {port} of 127.0.0.1: Address already in use; use"),
        EmulatedUno(firmware, port=port),
    ):
        pass
