"""What no working firmware does stops it and is reported with the place."""

from __future__ import annotations

import time

import pytest
from chips.emulator.conftest import hex_file

from protonn_edge.chips.emulator import EmulatedUno

CULPRIT = """
static volatile uint8_t variables[VARIABLES];

__attribute__((noinline, noclone)) uint8_t culprit(uint8_t n) {{
    {deed}
    return n;
}}

int main(void) {{
    variables[0] = culprit(3);
    idle_for_ever();
}}
"""

DEEDS = {
    "illegal opcode 0x0001": '__asm__ volatile(".word 0x0001");',
    "sleeps with interrupts disabled": "sleep_enable(); cli(); sleep_cpu();",
    "writes to address 0x0900, past the end of the SRAM at 0x08ff": (
        "*(volatile uint8_t *)0x0900 = n;"
    ),
    "reads address 0xffff, past the end of the SRAM at 0x08ff": (
        "return *(volatile uint8_t *)0xffff;"
    ),
    "runs into the erased flash at 0x4000": "((void (*)(void))0x2000)();",
    "jumps to 0xfffe, outside of the flash": "((void (*)(void))0x7fff)();",
}


def first_fault(uno):
    deadline = time.monotonic() + 90
    while not (faults := uno.stats().faults):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return faults[0]


@pytest.mark.parametrize(("what", "deed"), DEEDS.items(), ids=DEEDS)
def test_a_fault_names_the_deed_and_the_function(compile_firmware, what, deed):
    with EmulatedUno(compile_firmware(CULPRIT.format(deed=deed), "-DVARIABLES=1")) as uno:
        fault = first_fault(uno)
        assert uno.stats().state == "crashed"
    assert fault.startswith("culprit+0x")
    assert fault.endswith(f": {what}")


def test_a_stack_that_meets_the_variables_is_a_fault(compile_firmware):
    deed = """
        volatile uint8_t frame[50];
        frame[0] = n;
        variables[1] = culprit(n + 1) + frame[0];
    """
    variables = 1000
    firmware = compile_firmware(CULPRIT.format(deed=deed), f"-DVARIABLES={variables}")
    with EmulatedUno(firmware) as uno:
        fault = first_fault(uno)
        stack_bytes = uno.stats().stack_bytes
    assert fault.startswith("culprit+0x")
    assert f"is below the end of .bss at 0x{0x100 + variables:04x}" in fault
    assert 0 < stack_bytes - (2048 - variables) < 60


def test_the_last_free_byte_may_be_used(compile_firmware):
    firmware = """
        __attribute__((OS_main)) int main(void) {
            static volatile uint8_t variables[2048 - 2 - 10];
            variables[0] = 1;
            __asm__ volatile(".rept 10\\n push r1\\n .endr");
            OVERFLOW
            for (;;) {
            }
        }
    """
    with EmulatedUno(compile_firmware(firmware, "-DOVERFLOW=")) as uno:
        while uno.stats().cycles < 1_000_000:
            time.sleep(0.01)
        assert uno.stats().stack_bytes == 12
        assert uno.stats().faults == ()
    overflow = '-DOVERFLOW=__asm__ volatile("push r1");'
    with EmulatedUno(compile_firmware(firmware, overflow)) as uno:
        assert "stack pointer 0x08f2 is below the end of .bss at 0x08f4" in first_fault(uno)


def test_a_hex_file_gives_the_address_alone(compile_firmware):
    deed = DEEDS["illegal opcode 0x0001"]
    elf = compile_firmware(CULPRIT.format(deed=deed), "-DVARIABLES=1")
    with EmulatedUno(hex_file(elf)) as uno:
        fault = first_fault(uno)
    assert fault.startswith("pc 0x")
    assert fault.endswith(": illegal opcode 0x0001")


def test_a_reset_brings_a_crashed_board_back(compile_firmware, connect):
    firmware = """
        int main(void) {
            uart_begin();
            if (uart_read() == 'x') {
                __asm__ volatile(".word 0x0001");
            }
            uart_write('.');
            idle_for_ever();
        }
    """
    with EmulatedUno(compile_firmware(firmware)) as uno:
        link = connect(uno)
        link.write(b"x")
        first_fault(uno)
        link.close()
        link = connect(uno)
        link.write(b"y")
        assert link.read(1) == b"."
        stats = uno.stats()
    assert stats.state == "sleeping"
    assert len(stats.faults) == 1
