"""The deepest stack, to the byte."""

from __future__ import annotations

import pytest

from protonn_edge.chips.emulator import EmulatedUno

CALL_OF_MAIN = 2


def stack_bytes(uno, connect):
    assert connect(uno).read(1) == b"."
    return uno.stats().stack_bytes


@pytest.mark.parametrize("depth", [1, 10, 100])
def test_a_recursion_has_its_depth_times_its_frame(compile_firmware, connect, depth):
    firmware = """
        __attribute__((naked, noinline)) static void recurse(uint8_t depth) {
            __asm__ volatile(
                "push r16\\n push r17\\n push r18\\n"
                "dec r24\\n breq 1f\\n rcall recurse\\n"
                "1: pop r18\\n pop r17\\n pop r16\\n ret\\n");
        }

        __attribute__((OS_main)) int main(void) {
            recurse(DEPTH);
            UBRR0L = 16;
            UCSR0B = 1 << TXEN0;
            UDR0 = '.';
            for (;;) {
            }
        }
    """
    with EmulatedUno(compile_firmware(firmware, f"-DDEPTH={depth}")) as uno:
        assert stack_bytes(uno, connect) == CALL_OF_MAIN + depth * (2 + 3)


def test_a_stack_pointer_that_is_half_written_is_no_stack(compile_firmware, connect):
    # avr-gcc's way to make a frame writes SPH first. From 0x0803 down to 0x07fd, that shows 0x0703
    # for two instructions, while interrupts are off.
    firmware = """
        __attribute__((OS_main)) int main(void) {
            __asm__ volatile(
                "ldi r28, 0x03\\n ldi r29, 0x08\\n out 0x3e, r29\\n out 0x3d, r28\\n"
                "ldi r28, 0xfd\\n ldi r29, 0x07\\n"
                "in r0, 0x3f\\n cli\\n out 0x3e, r29\\n out 0x3f, r0\\n out 0x3d, r28\\n"
                ::: "r28", "r29");
            UBRR0L = 16;
            UCSR0B = 1 << TXEN0;
            UDR0 = '.';
            for (;;) {
            }
        }
    """
    with EmulatedUno(compile_firmware(firmware)) as uno:
        assert stack_bytes(uno, connect) == 0x8FF - 0x7FD


def test_an_interrupt_counts(compile_firmware, connect):
    firmware = """
        ISR(USART_UDRE_vect, ISR_NAKED) {
            __asm__ volatile("push r24\\n sts 0xc1, r1\\n pop r24\\n reti");
        }

        __attribute__((OS_main)) int main(void) {
            UCSR0B = 1 << UDRIE0;
            sei();
            __asm__ volatile("nop");
            UBRR0L = 16;
            UCSR0B = 1 << TXEN0;
            UDR0 = '.';
            for (;;) {
            }
        }
    """
    with EmulatedUno(compile_firmware(firmware)) as uno:
        assert stack_bytes(uno, connect) == CALL_OF_MAIN + 2 + 1
