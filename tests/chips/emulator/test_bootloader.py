"""Optiboot lives in the emulated Uno: avrdude uploads, and what it uploaded runs."""

from __future__ import annotations

import subprocess
import time

import pytest
from avr_tools import needs_uploads
from chips.emulator.conftest import hex_file
from refusals import refused_by
from uploads import UPLOAD_DEADLINE_S, upload_patiently

from protonn_edge.chips.emulator import EmulatedUno
from protonn_edge.system.errors import CheckFailed

pytestmark = needs_uploads

GREETS_AND_ECHOES = """
#include <avr/pgmspace.h>
static const uint8_t ballast[BALLAST] PROGMEM = {1};

int main(void) {
    uart_begin();
    uart_write('A' + pgm_read_byte(&ballast[uart_read() - '0']));
    for (;;) {
        uart_write(uart_read());
    }
}
"""


def upload(uno, image):
    command = ["avrdude", "-c", "arduino", "-p", "atmega328p", "-P", uno.upload_port]

    def run_avrdude():
        result = subprocess.run(
            [*command, "-U", f"flash:w:{image}:i"],
            capture_output=True,
            text=True,
            timeout=UPLOAD_DEADLINE_S,
            check=False,
        )
        if result.returncode != 0:
            raise CheckFailed(f"avrdude: {result.stderr}")
        assert "verified" in result.stderr

    upload_patiently(run_avrdude)


def ask_until_answered(link, question, answer):
    """The bootloader eats what comes while it listens: ask again, as a host has to."""
    link.timeout = 0.3
    deadline = time.monotonic() + 90.0
    while time.monotonic() < deadline:
        link.write(question)
        if link.read(1) == answer:
            return True
    return False


@pytest.mark.parametrize("ballast", [10, 30000], ids=["small", "large"])
def test_avrdude_uploads_and_the_firmware_runs_after_every_reset(
    compile_firmware, connect, link_kind, ballast
):
    image = hex_file(compile_firmware(GREETS_AND_ECHOES, f"-DBALLAST={ballast}"))
    with EmulatedUno(None, bootloader=True, link=link_kind) as uno:
        assert uno.stats().state == "empty"
        upload(uno, image)
        assert uno.stats().overruns == 0
        for _ in range(2):
            link = connect(uno)
            assert ask_until_answered(link, b"0", b"B")
            # Questions that a busy machine sends late come all at once, and some may be lost.
            lost = uno.stats().overruns
            link.timeout = 20
            link.write(b"echo")
            assert link.read(4) == b"echo"
            assert uno.stats().overruns == lost
            link.close()
        assert uno.stats().faults == ()


def test_a_firmware_may_be_there_from_the_start_and_be_replaced(compile_firmware, connect):
    first = compile_firmware(
        "int main(void) { uart_begin(); for (;;) uart_write(uart_read() + 1); }"
    )
    with EmulatedUno(first, bootloader=True) as uno:
        link = connect(uno)
        assert ask_until_answered(link, b"0", b"1")
        link.close()
        upload(uno, hex_file(compile_firmware(GREETS_AND_ECHOES, "-DBALLAST=10")))
        assert ask_until_answered(connect(uno), b"0", b"B")


def test_faults_of_an_uploaded_firmware_are_not_given_names_of_another(compile_firmware):
    first = compile_firmware(GREETS_AND_ECHOES, "-DBALLAST=10")
    with EmulatedUno(first, bootloader=True) as uno:
        crashes = 'int main(void) { __asm__ volatile(".word 0x0001"); }'
        upload(uno, hex_file(compile_firmware(crashes)))
        deadline = time.monotonic() + 90.0
        while not uno.stats().faults:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        (fault,) = uno.stats().faults
    assert fault.startswith("pc 0x")
    assert fault.endswith("illegal opcode 0x0001")


def test_a_firmware_that_reaches_into_the_bootloader_is_refused(compile_firmware):
    firmware = compile_firmware(GREETS_AND_ECHOES, "-DBALLAST=32200")
    with refused_by("chips.emulator.image"):
        EmulatedUno(firmware, bootloader=True)
